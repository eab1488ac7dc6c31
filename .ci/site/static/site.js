// What the learner did, as JupyterLite keeps it in this browser: shown on the map, out into a zip, and in again.
import { strFromU8, strToU8, unzipSync, zipSync } from "./fflate.js";

const DATABASE = "planexec-lite"; // contentsStorageName of jupyter-lite.json
const STORE = "files";
const PROJECT = "planexec-lite";

/** Do some work in JupyterLite's store; a browser that blocks storage rejects. */
async function inStore(mode, work) {
  const database = await new Promise((done, failed) => {
    const request = indexedDB.open(DATABASE);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => done(request.result);
    request.onerror = () => failed(request.error);
  });
  try {
    return await new Promise((done, failed) => {
      if (!database.objectStoreNames.contains(STORE)) return done({});
      const transaction = database.transaction(STORE, mode);
      const result = work(transaction.objectStore(STORE));
      transaction.oncomplete = () => done(result);
      transaction.onerror = () => failed(transaction.error);
    });
  } finally {
    database.close();
  }
}

/** The files that the learner changed, by path, as JupyterLite's entries. */
function changed() {
  const files = {};
  return inStore("readonly", (store) => {
    store.openCursor().onsuccess = ({ target: { result: at } }) => {
      if (!at) return;
      if (at.value.type !== "directory") files[at.key] = at.value;
      at.continue();
    };
    return files;
  });
}

function bytes({ content, format }) {
  if (format === "base64") return Uint8Array.from(atob(content), (sign) => sign.charCodeAt(0));
  return strToU8(typeof content === "string" ? content : JSON.stringify(content, null, 1) + "\n");
}

/** A zip of the files under their names, and manifest.json, which lists them. */
function packed(files) {
  const list = Object.entries(files).map(([path, { content, ...about }]) => ({ ...about, path }));
  const manifest = { project: PROJECT, exported: new Date().toISOString(), files: list };
  const entries = Object.entries(files).map(([path, entry]) => [path, [bytes(entry), { mtime: entry.last_modified }]]);
  return zipSync({ "manifest.json": strToU8(JSON.stringify(manifest, null, 1)), ...Object.fromEntries(entries) });
}

/** The entries of such a zip. */
function unpacked(zip) {
  const found = unzipSync(zip);
  const { project, files } = JSON.parse(strFromU8(found["manifest.json"]));
  if (project !== PROJECT) throw new Error("of another project");
  return files.map((about) => {
    const content = found[about.path];
    const base64 = () => btoa(content.reduce((all, byte) => all + String.fromCharCode(byte), ""));
    const read = { json: () => JSON.parse(strFromU8(content)), base64 }[about.format] ?? (() => strFromU8(content));
    return { ...about, content: read() };
  });
}

async function showProgress() {
  const rows = [...document.querySelectorAll("[data-tasks]")];
  if (!rows.length) return;
  const stored = (await changed())["exercises/progress.json"];
  const progress = stored ? JSON.parse(strFromU8(bytes(stored))) : {};
  let solved = 0, all = 0;
  for (const row of rows) {
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

function connectWork() {
  const message = document.getElementById("message");
  document.getElementById("export").onclick = async () => {
    const files = await changed();
    const count = Object.keys(files).length;
    if (count) {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([packed(files)], { type: "application/zip" }));
      link.download = "planexec-lite-work.zip";
      link.click();
      URL.revokeObjectURL(link.href);
    }
    message.textContent = count ? `${count} files exported.` : "Nothing is kept in this browser yet.";
  };
  document.getElementById("import").onchange = async ({ target }) => {
    try {
      const files = unpacked(new Uint8Array(await target.files[0].arrayBuffer()));
      await inStore("readwrite", (store) => files.forEach((file) => store.put(file, file.path)));
      message.textContent = `${files.length} files imported. Reload a lesson that is open.`;
      await showProgress();
    } catch {
      message.textContent = "That file is no exported work of this site; nothing was changed.";
    }
    target.value = "";
  };
}

// JupyterLab needs room: on a narrow screen a notebook is opened in the plain notebook app.
if (innerWidth < 800)
  for (const link of document.querySelectorAll("a[href*='/lab/index.html']"))
    link.href = link.getAttribute("href").replace("/lab/", "/notebooks/");
// What scrolls can be reached by a keyboard.
function reachScrolling() {
  for (const one of document.querySelectorAll("article pre, article table, article figure, .toc-scroll, .sidebar-scroll"))
    if (one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight) one.tabIndex = 0;
}
reachScrolling();
addEventListener("resize", reachScrolling);
if (document.getElementById("export")) connectWork();
showProgress().catch((problem) => {
  const message = document.getElementById("message");
  if (message && !(problem instanceof SyntaxError))
    message.textContent = "This browser blocks storage for this site, so your work can't be kept. Allow it, or leave private browsing.";
});
