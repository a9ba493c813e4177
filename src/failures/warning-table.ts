/** The texts about a warning that are the same for every snippet. */
interface WarningText {
  /** A sentence without a period: what is wrong. */
  title: string;
  /** The next step for whoever can change the snippet or the site. */
  hint: string;
}

/** The code of a warning about a snippet. Codes never change, as scripts and searches rely on them. */
export type WarningCode =
  | 'left-open'
  | 'script-runs'
  | 'script-removed'
  | 'block-in-paragraph'
  | 'invalid-nesting'
  | 'blocked-by-policy'
  | 'image-not-copied'
  | 'class-without-css';

/** Every warning about a snippet that is shown nevertheless, by its code. */
export const warningTable: Readonly<Record<WarningCode, WarningText>> = {
  'left-open': {
    title: 'The snippet leaves an element, a comment or a tag open',
    hint: 'Close it in the snippet.',
  },
  'script-runs': {
    title: 'The snippet contains a script, which runs on the page',
    hint: "Remove the script from the snippet. If it is meant to run, set scripts: 'allow'; if none may, scripts: 'strip' or 'error'.",
  },
  'script-removed': {
    title: "The snippet contains a script, which scripts: 'strip' removes",
    hint: "Remove the script from the snippet, or set scripts: 'allow' if you trust the authors.",
  },
  'block-in-paragraph': {
    title: 'The snippet is a block, and its embed is inside a paragraph with other text',
    hint: 'Put the embed into its own paragraph, or write the snippet without blocks such as <p>.',
  },
  'invalid-nesting': {
    title: 'The snippet has an element that browsers do not leave inside the one around its embed',
    hint: 'Put the embed outside of the element that the warning names, or leave the element out of the snippet.',
  },
  'blocked-by-policy': {
    title: "The site's Content Security Policy blocks a part of the snippet",
    hint: 'Remove the part from the snippet, or allow it in the policy.',
  },
  'image-not-copied': {
    title: 'An image of the snippet could not be downloaded',
    hint: 'Check the URL of the image. The next build or refresh tries again.',
  },
  'class-without-css': {
    title: 'The snippet has classes that no style sheet of its pages has',
    hint: 'Build again, or use classes that the site has.',
  },
};
