/* What a screen reader needs and widgets can't say; runs when the style sheet is on the page, in an attribute: only block comments. */
const desk = this.closest('.pxl-desk');
if (desk && !desk.pxlWatched) {
  desk.pxlWatched = true;
  const set = (one, name, value) => one.getAttribute(name) === value || one.setAttribute(name, value);
  /* The cells that read a decision and stopped: the blue words below the desk. */
  const waiting = () => [...document.querySelectorAll('[data-mime-type$=".error"], [data-mime-type$=".stderr"]')]
    .filter(one => one.textContent.includes('waits for you'));
  /* The decision takes the focus; where a cell waits for it, that cell is selected, and the run goes on from there. */
  const goOn = () => {
    const cell = waiting().map(one => one.closest('.jp-Cell')).find(one => one && desk.compareDocumentPosition(one) & 4);
    const open = [...desk.querySelectorAll('button.pxl-main')].some(one => one.offsetParent);
    if (open || !cell || !document.activeElement.closest('.pxl-status')) return;
    const above = [...document.querySelectorAll('.pxl-desk')].filter(one => one.compareDocumentPosition(cell) & 4);
    if (above.pop() !== desk) return;  /* it waits for another desk */
    if (cell.tabIndex < 0) cell.tabIndex = -1;
    cell.focus({preventScroll: true});
  };
  desk.addEventListener('focusin', event => { if (event.target.closest('.pxl-status')) setTimeout(goOn, 300); });
  const tell = () => {
    for (const said of desk.querySelectorAll('.pxl-status > .widget-html-content, .pxl-status > .jupyter-widget-html-content'))
      { set(said, 'role', 'status'); set(said, 'tabindex', '-1'); set(said.parentElement, 'tabindex', '-1'); }
    for (const field of desk.querySelectorAll('input, textarea')) set(field, 'dir', 'auto');
    for (const note of desk.querySelectorAll('.pxl-note')) {
      const field = note.previousElementSibling && note.previousElementSibling.querySelector('input, textarea');
      if (!field) continue;
      if (!note.id) note.id = 'pxl-note-' + (window.pxlNotes = (window.pxlNotes || 0) + 1);
      const told = note.style.display !== 'none' && note.innerText.trim() !== '';
      set(field, 'aria-invalid', String(told && !!note.querySelector('.pxl-problem')));
      if (told) set(field, 'aria-describedby', note.id);
      else field.removeAttribute('aria-describedby');
    }
  };
  let stops = 0;  /* Run All ends at the last cell; a moment later the question takes the window and the focus */
  const come = () => {
    const said = [...desk.classList].filter(name => name.startsWith('pxl-stop-')).length;
    if (said <= stops) return;
    stops = said;
    let moved = false;  /* who has pressed a key or clicked since is not called back */
    for (const kind of ['keydown', 'pointerdown'])
      document.addEventListener(kind, () => { moved = true; }, {capture: true, once: true});
    const show = () => {
      if (moved || desk.contains(document.activeElement)) return;
      set(desk, 'tabindex', '-1');
      desk.focus({preventScroll: true});
      desk.scrollIntoView({block: desk.offsetHeight < innerHeight * 0.8 ? 'center' : 'start'});
    };
    const late = tries => waiting().length || !tries
      ? setTimeout(show, 600) : setTimeout(late, 200, tries - 1);
    setTimeout(late, 1000, 50);  /* the cell that reads the decision ends a second later, with an error */
  };
  new MutationObserver(come).observe(desk, {attributes: true, attributeFilter: ['class']});
  come();
  new MutationObserver(tell).observe(desk, {childList: true, subtree: true, attributes: true, attributeFilter: ['style']});
  tell();
}
