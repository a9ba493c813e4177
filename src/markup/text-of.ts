import { decodeHTML } from 'entities/decode';
import { blockElements } from './elements.ts';
import { walk } from './walk.ts';

const hiddenElements = /^(?:script|style|template|iframe|noembed|noframes)$/;
/** The elements besides blocks whose text browsers show apart, so spaces set it off from the text around. */
const separateElements = /^(?:br|caption|colgroup|legend|optgroup|option|tbody|td|tfoot|th|thead|tr)$/;

/**
 * Returns the text of HTML without tags, scripts and styles, with each run of white space as one space.
 *
 * @param isApart says whether a space sets off an element from the text around; by default as browsers show it
 */
export function textOf(html: string, isApart: (name: string) => boolean = isShownApart): string {
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
      if (isHidden) return;
      const written = html.slice(start, end);
      text += kind === 'text' || kind === 'rcdata' ? decodeHTML(written) : written;
    },
  });
  return text.replace(/[\t\n\f\r ]+/g, ' ').replace(/^ | $/g, '');
}

const isShownApart = (name: string) => blockElements.has(name) || separateElements.test(name);
