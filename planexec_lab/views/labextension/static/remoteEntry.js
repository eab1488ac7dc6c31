// What a page with figures of planexec_lab does for them. JupyterLab loads this script and asks it for './style'; the pages of
// the site load it too. A stored figure is an image, because a notebook that is not trusted shows nothing else.
//
// - Light and dark: a figure stands on a light plate of its own, because a stored output can't know the theme. In a dark theme
//   light and dark change places, and the hues stay; plates inside a plate turn with it.
// - The image becomes SVG in the page: its text can be selected and found.
// - A step in a graph or timeline and its row in a table or a desk find each other: the pointer or the focus on one marks both.
// - Where a figure is wider than its frame, its edge fades: there is more to scroll to.
// - The player answers keys: the arrows, Home and End move, the space bar plays.

(() => {

const plate = '[style*="#E8EBEE"]';
const stop = '[data-mime-type$=".stderr"]:has(pre > [style*="211,234,249"])'; // the blue words at which Run All stops
const rules = `
[data-jp-theme-light="false"] :is(${plate}:not(${plate} ${plate}), ${stop}) {filter: invert(1) hue-rotate(180deg)}
figure > svg text {user-select: text; cursor: text}
${stop} {background: rgb(211, 234, 249) !important; border-left: 4px solid rgb(0, 81, 127)}
${stop} pre {word-break: normal; overflow-wrap: anywhere}
.pxl-more {mask-image: linear-gradient(to left, #0004, #000 2rem)}
figure > svg :focus, tr:focus {outline: none}
.pxl-found > path, .pxl-found > rect {stroke: #00517F; stroke-width: 3px}
figure > svg :focus-visible > rect, figure > svg :focus-visible > path {stroke: #00517F; stroke-width: 5px}
tr.pxl-found > td:first-child {box-shadow: inset 4px 0 #00517F}
.pxl-row.pxl-found {background: color-mix(in srgb, var(--jp-brand-color1, #00517F) 16%, transparent)}
tr:focus-visible {outline: 3px solid #00517F !important; outline-offset: -3px}
tr:is(.pxl-found, :focus-visible) > td:first-child {text-indent: 8px}
`;

// --- figures ----------------------------------------------------------------------------------------------------------

const IMAGE = 'figure > img[src^="data:image/svg+xml,"]';
const KEPT = new Set(['svg', 'g', 'path', 'rect', 'text', 'tspan', 'title', 'defs', 'clipPath', 'use']);
const STEP = 'step '; // an id of matplotlib's that names a step
let figures = 0;

/** Whether an attribute can neither run anything nor load anything. */
function harmless({ name, value }) {
  if (/^on/i.test(name)) return false;
  return /href$/i.test(name) ? value.startsWith('#') : !/url\((?!["']?#)|@import|javascript:/i.test(value);
}

/** The text of an image; empty if it is not encoded as an address has to be. */
function textOf(image) {
  try {
    return decodeURIComponent(image.src.slice(image.src.indexOf(',') + 1));
  } catch {
    return '';
  }
}

/** Put the SVG of an image in the image's place; its ids become those of this figure alone. */
function inline(image) {
  const svg = new DOMParser().parseFromString(textOf(image), 'image/svg+xml').documentElement;
  if (svg.nodeName !== 'svg') return;
  const own = `pxl-figure-${(figures += 1)}-`;
  for (const one of [svg, ...svg.querySelectorAll('*')]) {
    if (!KEPT.has(one.nodeName) || one.namespaceURI !== svg.namespaceURI) {
      one.remove();
      continue;
    }
    for (const attribute of [...one.attributes]) {
      if (!harmless(attribute)) one.removeAttributeNode(attribute);
      else attribute.value = attribute.value.replace(/url\((["']?)#/g, `url($1#${own}`);
      if (/href$/.test(attribute.name)) attribute.value = attribute.value.replace('#', `#${own}`);
    }
    if (one.id.startsWith(STEP)) one.dataset.step = one.id.slice(STEP.length);
    if (one.id) one.id = own + one.id;
    if (one.id.includes(STEP)) one.removeAttribute('id');
  }
  for (const [name, value] of Object.entries({
    'role': 'img', 'aria-label': image.alt, 'width': image.width, 'style': image.getAttribute('style'),
    'stroke-linejoin': 'round', 'stroke-linecap': 'butt', // matplotlib says so in a style, which would be for the whole page
  })) svg.setAttribute(name, value);
  svg.removeAttribute('height');
  image.replaceWith(svg);
}

// --- steps that find each other ---------------------------------------------------------------------------------------

const TOGETHER = '.pxl-desk, .pxl-run, .jp-OutputArea, .cell_output'; // what is shown together
const ROW = 'figure tr:has(> td:first-child > strong), .pxl-row:has(.pxl-step > b)';
const DRAWN = 'figure > svg [data-step]';
const MARK = 'pxl-found';

const nameOf = (one) => one.dataset.step ?? one.querySelector('td > strong, .pxl-step > b').textContent;
const stepAt = (place) => place?.closest?.(`${DRAWN}, ${ROW}`);
const around = (one) => one.closest('.pxl-desk, .pxl-run') ?? one.closest(TOGETHER);

/** Everything that shows the same step beside this one. */
function alike(one) {
  const area = around(one);
  return area ? [...area.querySelectorAll(`${DRAWN}, ${ROW}`)].filter((other) => nameOf(other) === nameOf(one)) : [];
}

function mark(place) {
  for (const one of document.querySelectorAll(`.${MARK}`)) one.classList.remove(MARK);
  const one = stepAt(place) ?? stepAt(document.activeElement);
  const found = one ? alike(one) : [];
  if (found.length > 1) for (const other of found) other.classList.add(MARK);
}

/** A keyboard reaches the steps of a figure and the rows of a table as one stop; the arrows go on from there. */
function reach(area) {
  const drawn = [...area.querySelectorAll(DRAWN)].filter((one) => one.querySelector('title'));
  const rows = [...area.querySelectorAll('figure tr')].filter((one) => one.matches(ROW));
  if (!drawn.length || !area.querySelector(ROW)) return;
  for (const stops of [drawn, rows]) stops.forEach((one, place) => one.hasAttribute('tabindex') || (one.tabIndex = place ? -1 : 0));
  for (const one of drawn) {
    one.setAttribute('role', 'img');
    one.setAttribute('aria-label', one.querySelector('title').textContent);
    one.closest('svg').setAttribute('role', 'group');
  }
}

/** The arrows go from step to step, Enter to the same step in the other picture. */
function walk(event) {
  const one = document.activeElement?.matches(`${DRAWN}, figure tr`) ? document.activeElement : null;
  const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!one || !(by || event.key === 'Enter')) return false;
  let next;
  if (by) {
    const all = [...one.closest('figure').querySelectorAll('[tabindex]')].filter((other) => other.matches('[data-step], tr'));
    next = all[all.indexOf(one) + by];
    if (next) one.tabIndex = -1;
  } else {
    next = alike(one).find((other) => other.closest('figure, .pxl-row') !== one.closest('figure'));
    if (next && !next.hasAttribute('tabindex')) next = next.querySelector('button');
  }
  if (next && next.tabIndex < 0) next.tabIndex = 0;
  next?.focus();
  return true;
}

// --- figures that scroll ----------------------------------------------------------------------------------------------

const fade = (one) => one.classList.toggle('pxl-more', one.scrollLeft + one.clientWidth < one.scrollWidth - 4);
const sizes = new ResizeObserver((changes) => changes.forEach(({ target }) => fade(target)));

/** Keep the fade of a figure true; one that is watched already is not watched twice. */
function watch(one) {
  sizes.observe(one);
  one.onscroll = () => fade(one);
}

// --- the player -------------------------------------------------------------------------------------------------------

/** The player's number becomes a scrubber; where this script is missing, it stays a number. */
function scrub(number) {
  number.type = 'range';
}

/** The keys of the player, wherever in it the focus is; a button takes its own space bar. */
function play(event) {
  const player = event.target.closest?.('.pxl-player');
  const scrubber = player?.querySelector('input[type=range]');
  if (!scrubber || event.target.matches('[data-step], tr')) return false;
  const [at, last] = [Number(scrubber.value), Number(scrubber.max)];
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key];
  if (to !== undefined) {
    scrubber.value = to;
    scrubber.dispatchEvent(new Event('input', { bubbles: true }));
    return true;
  }
  if (event.key !== ' ' || event.target.matches('button')) return false;
  player.querySelector('button.pxl-play').click();
  return true;
}

// --- the page ---------------------------------------------------------------------------------------------------------

function look() {
  for (const image of document.querySelectorAll(IMAGE)) inline(image);
  for (const area of document.querySelectorAll(TOGETHER)) reach(area);
  for (const one of document.querySelectorAll('figure, .pxl-pictures')) watch(one);
  for (const number of document.querySelectorAll('.pxl-player input[type=number]')) scrub(number);
  for (const pictures of document.querySelectorAll('.pxl-player .pxl-pictures')) pictures.tabIndex = 0; // so that keys scroll them
}

let waits = false;
function lookSoon() {
  if (waits) return;
  waits = true;
  setTimeout(() => {
    waits = false;
    look();
  }, 50); // not once for each key that is typed in a cell
}

function start() {
  const sheet = document.createElement('style');
  sheet.textContent = rules;
  document.head.append(sheet);
  for (const kind of ['pointerover', 'focusin']) document.addEventListener(kind, (event) => mark(event.target));
  window.addEventListener('keydown', (event) => { // before JupyterLab, which takes such keys for commands on cells
    if (event.altKey || event.ctrlKey || event.metaKey || !(play(event) || walk(event))) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, true);
  new MutationObserver(lookSoon).observe(document.body, { childList: true, subtree: true });
  look();
}

(window._JUPYTERLAB ||= {})['planexec-lab-looks'] = { init() {}, async get() { return () => ({}); } };
if (document.readyState === 'loading') addEventListener('DOMContentLoaded', start);
else start();

})();
