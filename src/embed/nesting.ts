import { blockElements } from '../markup/elements.ts';
import { type OpenElement, walk } from '../markup/walk.ts';

/** An element around an embed, and content with another, which browsers do not leave inside of it. */
export interface Nesting {
  /** The names of the elements around the embed. */
  outer: string;
  /** The names of the elements in the content. */
  inner: string;
  /** The names of elements that keep the two apart, if they are between them. */
  barriers: string;
  /** What the content is, what a browser does, and what to do: the rest of a sentence, and others. */
  message: string;
}

/** The kinds of nesting, each with a row in the table: what is in what. */
type NestingKind =
  | 'blockInParagraph'
  | 'linkInLink'
  | 'formInForm'
  | 'buttonInButton'
  | 'buttonInLink'
  | 'linkInButton'
  | 'labelInLabel'
  | 'headingInHeading'
  | 'itemInItem'
  | 'termInTerm'
  | 'cellInCell'
  | 'cellOutsideTable'
  | 'contentInTable';

const blocks = [...blockElements];
/** The elements that the HTML Standard calls a scope: end tags inside of them do not reach out. */
const scopes = 'applet caption marquee object table td template th';
/** The elements between which a browser does not look for an open item: all blocks but these, and items. */
const listBarriers = `${blocks.filter((name) => !/^(?:address|dd|div|dt|li|p)$/.test(name)).join(' ')} button ${scopes}`;
const tableParts = 'caption col colgroup tbody td tfoot th thead tr';

/** What a browser does with content inside an element that it does not belong into. */
export const nestings: Readonly<Record<NestingKind, Nesting>> = {
  blockInParagraph: {
    outer: 'p',
    inner: blocks.join(' '),
    barriers: `button ${scopes}`,
    message:
      'is a block, such as <p> or <div>, inside a paragraph with other text. A browser ends the paragraph there. Put the embed into its own paragraph.',
  },
  linkInLink: {
    outer: 'a',
    inner: 'a',
    barriers: `svg ${scopes}`,
    message:
      'has a link, inside a link. A browser ends the outer link there. Put the embed outside of the link.',
  },
  formInForm: {
    outer: 'form',
    inner: 'form',
    barriers: 'template',
    message:
      'has a form, inside a form. A browser ignores its start tag, and its end tag ends the outer form. Put the embed outside of the form.',
  },
  buttonInButton: {
    outer: 'button',
    inner: 'button',
    barriers: scopes,
    message:
      'has a button, inside a button. A browser ends the outer button there. Put the embed outside of the button.',
  },
  buttonInLink: {
    outer: 'a',
    inner: 'button',
    barriers: 'template',
    message:
      'has a button, inside a link. Browsers differ in what a click does there. Put the embed outside of the link.',
  },
  linkInButton: {
    outer: 'button',
    inner: 'a',
    barriers: 'svg template',
    message:
      'has a link, inside a button. Browsers differ in what a click does there. Put the embed outside of the button.',
  },
  labelInLabel: {
    outer: 'label',
    inner: 'label',
    barriers: 'template',
    message:
      'has a label, inside a label. A click on the inner one does not reach the field of the outer one. Put the embed outside of the label.',
  },
  headingInHeading: {
    outer: 'h1 h2 h3 h4 h5 h6',
    inner: 'h1 h2 h3 h4 h5 h6',
    barriers: 'template',
    message:
      'has a heading, inside a heading. A browser ends the outer heading there, or takes both as one. Put the embed outside of the heading.',
  },
  itemInItem: {
    outer: 'li',
    inner: 'li',
    barriers: `dd dt ${listBarriers}`,
    message:
      'has a list item without its list, inside a list item. A browser ends the outer item there. Put the embed between the items.',
  },
  termInTerm: {
    outer: 'dd dt',
    inner: 'dd dt',
    barriers: `li ${listBarriers}`,
    message:
      'has a <dt> or <dd> without its list, inside another. A browser ends the outer one there. Put the embed between them.',
  },
  cellInCell: {
    outer: 'caption td th',
    inner: tableParts,
    barriers: 'table template',
    message:
      'has a part of a table without its table, inside a cell or caption. A browser ends that there. Put the embed between rows or cells.',
  },
  cellOutsideTable: {
    outer: '', // any element
    inner: tableParts,
    barriers: 'table template svg',
    message:
      'has a part of a table, outside of a table. A browser ignores its tags. Put the embed into a table, or the table into the snippet.',
  },
  contentInTable: {
    outer: '', // the element right around the embed: see `tableElements`
    inner: '', // text, and any element but those that may be there: see `inTable`
    barriers: '',
    message:
      'is no part of a table, and is in a table outside of its cells. A browser moves it before the table. Put the embed into a cell.',
  },
};

const tableElements = /^(?:table|tbody|tfoot|thead|tr)$/;
const inTable = new Set(`${tableParts} input script style template`.split(' '));

const rows: readonly Nesting[] = Object.values(nestings);
/** A bit for each row of the table. Sets of rows are numbers, as there is one for every embed of a site. */
const bitOf = (nesting: Nesting) => 1 << rows.indexOf(nesting);

/** The rows in which an element is the outer one, the inner one, or a barrier. */
interface Roles {
  outer: number;
  inner: number;
  barriers: number;
}

const noRoles: Roles = { outer: 0, inner: 0, barriers: 0 };
const rolesOf = new Map<string, Roles>();
for (const row of rows) {
  for (const role of ['outer', 'inner', 'barriers'] as const) {
    for (const name of row[role].split(' ').filter(Boolean)) {
      const roles = rolesOf.get(name) ?? { ...noRoles };
      roles[role] |= bitOf(row);
      rolesOf.set(name, roles);
    }
  }
}

/** Lists of rows by the number that stands for them: a site has few, which its embeds share. */
const lists = new Map<number, readonly Nesting[]>();

function listOf(bits: number): readonly Nesting[] {
  const list = lists.get(bits) ?? rows.filter((row) => bits & bitOf(row));
  lists.set(bits, list);
  return list;
}

/** The most elements around an embed that are looked at. Without a limit, time would be quadratic. */
const maxLookedAt = 512;

/**
 * Lists the rows whose outer element is around an embed.
 *
 * @param isInParagraph whether the innermost `<p>` is open: a block may have ended it
 */
export function nestingsAround(around: OpenElement, isInParagraph: boolean): readonly Nesting[] {
  let bits = 0;
  let behindBarriers = 0;
  let element: OpenElement | undefined = around;
  for (let depth = 0; element && depth < maxLookedAt; depth += 1) {
    const roles = rolesOf.get(element.name);
    if (roles) {
      bits |= roles.outer & ~behindBarriers;
      behindBarriers |= roles.barriers;
    }
    element = element.parent;
  }
  // A `<p>` that a block has ended is still around the embed, as far as its tags say.
  if (!isInParagraph) bits &= ~bitOf(nestings.blockInParagraph);
  if (around.parent) bits |= bitOf(nestings.cellOutsideTable) & ~behindBarriers;
  if (tableElements.test(around.name)) bits |= bitOf(nestings.contentInTable);
  return listOf(bits);
}

/** Lists the rows whose inner element is in content, and would reach an element around it. */
export function nestingsIn(html: string): readonly Nesting[] {
  let bits = 0;
  const notInTable = bitOf(nestings.contentInTable);
  walk(html, 0, {
    open({ name }, behindBarriers) {
      const { inner, barriers } = rolesOf.get(name) ?? noRoles;
      bits |= (inTable.has(name) ? inner : inner | notInTable) & ~behindBarriers;
      return behindBarriers | barriers | notInTable;
    },
    text({ start, end }, behindBarriers) {
      if (/[^\t\n\f\r ]/.test(html.slice(start, end))) bits |= notInTable & ~behindBarriers;
    },
  });
  return listOf(bits);
}
