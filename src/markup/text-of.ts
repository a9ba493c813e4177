import { decodeHTML } from 'entities/decode';
import { blockElements } from './elements.ts';
import { walk } from './walk.ts';

const hiddenElements = /^(?:script|style|template|iframe|noembed|noframes)$/;

const separateElements = /^(?:br|caption|colgroup|legend|optgroup|option|tbody|td|tfoot|th|thead|tr)$/;

const isApart = (name: string) => blockElements.has(name) || separateElements.test(name);

/** The text of HTML without tags, scripts and styles, with white space as one space. */
export function textOf(html: string): string {
  let text = '';
  walk(html, false, {
    open({ name }, isHidden) {
      if (isApart(name)) text += ' ';
      return isHidden || hiddenElements.test(name);
    },
    close(name) {
      if (isApart(name)) text += ' ';
    },
    text({ start, end }, isHidden, kind) {
      const written = html.slice(start, end);
      if (!isHidden) text += kind === 'text' || kind === 'rcdata' ? decodeHTML(written) : written;
    },
  });
  return text.replace(/[\t\n\f\r ]+/g, ' ').replace(/^ | $/g, '');
}
