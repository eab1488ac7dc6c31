"""What every picture is drawn with. It knows no board and no run, and nothing of the other folders of `views`.

Read `theme` (colours, looks, sizes), `text_fitting` and `wording` (what stands on a picture, and whether it fits), `visible`
(text in which nothing is hidden), `figure` (what a view returns), then the three ways to a figure: `table` (HTML),
`svg_canvas` (SVG written by hand) and `matplotlib_canvas`, which loads matplotlib when it draws. Import from the module.
"""
