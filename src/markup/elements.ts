/** In `text`, there are entities and tags, in `rcdata` entities. */
export type TextKind = 'text' | 'rcdata' | 'raw' | 'cdata';

const wordSet = (list: string) => new Set(list.split(/\s+/));

/** They end an open paragraph (HTML Standard, "in body" insertion mode). */
export const blockElements: Set<string> = wordSet(
  `address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form
  h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary table ul
  dd dt xmp`,
);

// Those with optional end tags, and the start tags that end them.
const tableRows = 'tr tbody tfoot thead';

const cellEnders = wordSet(`td th ${tableRows}`);

const endedBy = new Map([
  ['p', new Set([...blockElements, ...cellEnders])],
  ['li', wordSet('li')],
  ['dt', wordSet('dt dd')],
  ['dd', wordSet('dt dd')],
  ['td', cellEnders],
  ['th', cellEnders],
  ['tr', wordSet(tableRows)],
  ['option', wordSet('option optgroup')],
]);

const voidElements = wordSet(
  'area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr',
);

// Those with text alone. Not <noscript>: without scripting, its elements are shown.
const rawElements = wordSet('script style xmp iframe noembed noframes plaintext');

const rcdataElements = wordSet('title textarea');

const factsOf = (name: string) => {
  const textKind: TextKind = rawElements.has(name) ? 'raw' : rcdataElements.has(name) ? 'rcdata' : 'text';
  return {
    isBlock: blockElements.has(name),
    isVoid: voidElements.has(name),
    textKind,
    endedBy: endedBy.get(name),
  };
};

export const ordinaryFacts: {
  isBlock: boolean;
  isVoid: boolean;
  textKind: 'text' | 'rcdata' | 'raw';
  endedBy: Set<string> | undefined;
} = factsOf('');

const specialElements = [blockElements, endedBy.keys(), voidElements, rawElements, rcdataElements];

// In one table: each look-up of a name takes as long as reading its tag.
export const elementFacts: Map<
  string,
  {
    isBlock: boolean;
    isVoid: boolean;
    textKind: 'text' | 'rcdata' | 'raw';
    endedBy: Set<string> | undefined;
  }
> = new Map(specialElements.flatMap((names) => [...names].map((name) => [name, factsOf(name)] as const)));

// Those of SVG and MathML that contain HTML.
export const htmlInside: {
  svg: Set<string>;
  math: Set<string>;
  xml: Set<string>;
} = {
  svg: wordSet('foreignobject desc title'),
  math: wordSet('mi mo mn ms mtext'),
  xml: wordSet(''),
};

// Those that close SVG and MathML around them.
export const htmlOnly: Set<string> = wordSet(
  `b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta
  nobr ol p pre ruby s small span strong strike sub sup table tt u ul var`,
);
