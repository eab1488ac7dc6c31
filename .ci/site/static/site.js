// What the learner did: shown on the map, out into a zip, and in again. store.js, loaded before, reads and writes it.

const toBytes = (text) => new TextEncoder().encode(text);
const toText = (bytes) => new TextDecoder().decode(bytes);
const zips = () => import("./fflate.js"); // only a page that packs or unpacks work loads it
const say = (text) => document.getElementById("message")?.replaceChildren(text);

/** The files that the learner changed, as JupyterLite's entries. */
async function changed() {
  await restored;
  const request = await inStore("readonly", (store) => store.getAll());
  return request.result.filter((entry) => entry.type !== "directory");
}

function bytes({ content, format }) {
  if (format === "base64") return Uint8Array.from(atob(content), (sign) => sign.charCodeAt(0));
  return toBytes(typeof content === "string" ? content : JSON.stringify(content, null, 1) + "\n");
}

/** A zip of the files under their names, and manifest.json, which lists them. */
async function packed(entries) {
  const files = entries.map(({ content, ...about }) => about);
  const manifest = JSON.stringify({ project: PROJECT, exported: new Date().toISOString(), files }, null, 1);
  const contents = entries.map((entry) => [entry.path, [bytes(entry), { mtime: entry.last_modified }]]);
  const { zipSync } = await zips();
  return zipSync({ "manifest.json": toBytes(manifest), ...Object.fromEntries(contents) });
}

/** The entries of such a zip. */
async function unpacked(zip) {
  const { unzipSync } = await zips();
  const found = unzipSync(zip);
  const { project, files } = JSON.parse(toText(found["manifest.json"]));
  if (project !== PROJECT) throw new Error("of another project");
  const read = {
    json: (content) => JSON.parse(toText(content)),
    base64: (content) => btoa(Array.from(content, (byte) => String.fromCharCode(byte)).join("")),
    text: (content) => toText(content),
  };
  return files.map((about) => ({ ...about, content: read[about.format ?? "text"](found[about.path]) }));
}

async function exportWork() {
  const entries = await changed();
  if (!entries.length) return say("Nothing is kept in this browser yet.");
  const href = URL.createObjectURL(new Blob([await packed(entries)], { type: "application/zip" }));
  Object.assign(document.createElement("a"), { href, download: "planexec-lite-work.zip" }).click();
  URL.revokeObjectURL(href);
  say(`${entries.length} files exported.`);
}

async function importWork({ target }) {
  try {
    const entries = await unpacked(new Uint8Array(await target.files[0].arrayBuffer()));
    await inStore("readwrite", (store) => entries.forEach((entry) => store.put(entry, entry.path)));
    say(`${entries.length} files imported. Reload a lesson that is open.`);
    await showProgress();
  } catch {
    say("That file is no exported work of this site; nothing was changed.");
  }
  target.value = "";
}

async function showProgress() {
  const stored = (await changed()).find((entry) => entry.path === "exercises/progress.json");
  const progress = stored ? JSON.parse(toText(bytes(stored))) : {};
  let solved = 0, all = 0;
  for (const row of document.querySelectorAll("[data-tasks]")) {
    const tasks = row.dataset.tasks.split(" ").filter(Boolean);
    const done = tasks.filter((id) => progress[id] === "right").length;
    solved += done;
    all += tasks.length;
    row.querySelector("progress")?.remove();
    if (!done) continue;
    row.classList.toggle("complete", done === tasks.length);
    const bar = Object.assign(document.createElement("progress"), { max: tasks.length, value: done });
    bar.setAttribute("aria-label", `${done} of ${tasks.length} exercises solved`);
    row.querySelector(".ways").append(bar);
  }
  if (solved) document.getElementById("solved").textContent = `You have solved ${solved} of ${all} exercises.`;
}

document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "All pages");
document.querySelector(".toc-drawer")?.setAttribute("aria-label", "On this page");
for (const one of document.querySelectorAll("article pre, article table, article figure, .toc-scroll, .sidebar-scroll"))
  if (one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight) one.tabIndex = 0; // a keyboard must reach it
if (document.querySelector("[data-tasks]")) {
  document.getElementById("export")?.addEventListener("click", exportWork);
  document.getElementById("import")?.addEventListener("change", importWork);
  showProgress().catch(() => say("This browser blocks storage for this site, so your work can't be kept. Allow it, or leave private browsing."));
}

// The theme's links about a page are outside all landmarks.
const about = document.querySelector(".content-icon-container");
about?.setAttribute("role", "region");
about?.setAttribute("aria-label", "This page");
