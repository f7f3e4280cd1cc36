// Gives a copy of a source the colours of the site's pages: light or dark, as chosen there, or as the system is set.
// SPDX-License-Identifier: Apache-2.0
{
  const base = new URL(document.currentScript.dataset.base, location.href);
  let chosen = null;
  try {
    chosen = JSON.parse(localStorage.getItem(`${base.pathname}.__palette`));
  } catch { /* no storage */ }
  const media = chosen && chosen.color && chosen.color.media;
  const dark = media === "(prefers-color-scheme: dark)" ? true :
      media === "(prefers-color-scheme: light)" ? false : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.scheme = dark ? "dark" : "light";
}
