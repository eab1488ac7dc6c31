"""The drawing tools of all pictures. They know neither boards nor runs, nor the other folders of `views`.

Read `theme` (colours, looks, sizes), `text_fitting` and `wording` (the words in a picture, and whether they fit), `visible`
(text without hidden characters), `figure` (the value that a view returns), then the three ways to a figure: `table` (HTML),
`svg_canvas` (SVG written by hand) and `matplotlib_canvas`, which loads matplotlib when it draws. Import from the module.
"""
