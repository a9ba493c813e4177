import { Parser } from 'htmlparser2';

// The elements whose start tag ends an open paragraph (HTML Standard, "in body" insertion mode).
const endsParagraph = new Set(
  `address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form
  h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary table ul
  dd dt xmp`.split(/\s+/),
);

/** Whether HTML holds an element that a browser would not leave inside a paragraph. */
export function isBlockLevel(html: string): boolean {
  let found = false;
  const parser = new Parser({
    onopentagname(name) {
      found ||= endsParagraph.has(name);
    },
  });
  parser.end(html);
  return found;
}
