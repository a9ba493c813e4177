/** The style sheet of the app, in the dark colors of Astro's own apps. */
export const style = `
  astro-dev-toolbar-window {
    color-scheme: dark;
    max-height: min(560px, 66vh);
    /* Above the outlines, below the bar. */
    z-index: 2000000001;
    overflow-y: auto;
  }
  @media (max-width: 640px) {
    astro-dev-toolbar-window {
      left: 0;
      right: 0;
      width: auto;
      transform: none;
      padding: 16px;
    }
  }
  [hidden] { display: none !important; }
  h1 { font-size: 22px; margin: 0 0 16px; color: #fff; }
  ul { list-style: none; margin: 0; padding: 0; }
  .snippets { display: grid; grid-template-columns: minmax(0, 1fr); gap: 12px; }
  astro-dev-toolbar-card { display: block; }
  .title { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 8px; margin: 0 0 4px; }
  h2 { font-size: 16px; line-height: 1.4; margin: 0; color: #fff; overflow-wrap: anywhere; }
  p, label, summary, .pages li { font-size: 14px; line-height: 1.5; }
  p { margin: 0 0 8px; overflow-wrap: anywhere; }
  .params, textarea { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
  .error, .failed { color: #ff9d9d; }
  .trial { border-left: 3px solid #b58a2d; padding-left: 12px; margin: 8px 0 12px; }
  .warning { color: #f9e9c4; }
  .buttons { display: flex; flex-wrap: wrap; gap: 8px; margin: 0 0 8px; }
  .trial .buttons { margin: 0; }
  details { border-top: 1px solid #343841; padding-top: 8px; margin-top: 8px; }
  summary { cursor: pointer; color: #fff; width: fit-content; }
  details[open] > summary { margin-bottom: 8px; }
  label { display: block; color: #fff; }
  textarea {
    box-sizing: border-box;
    display: block;
    width: 100%;
    margin: 4px 0 8px;
    padding: 8px;
    resize: vertical;
    font-size: 13px;
    line-height: 1.5;
    color: #fff;
    background: #23262d;
    border: 1px solid #858b98;
    border-radius: 4px;
  }
  a { color: #e0ccfa; overflow-wrap: anywhere; }
  .pages li { margin: 0 0 4px; overflow-wrap: anywhere; }
  summary:focus-visible, textarea:focus-visible, a:focus-visible { outline: 2px solid #e0ccfa; outline-offset: 2px; }
  astro-dev-toolbar-highlight { box-sizing: border-box; pointer-events: none; }
  .mark {
    position: absolute;
    z-index: 2000000000;
    padding: 0 6px;
    white-space: nowrap;
    font: 600 12px/20px system-ui, sans-serif;
    color: #000;
    background: #ffbf00;
    border-radius: 4px;
    pointer-events: none;
  }
`;
