import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import ts from 'typescript';
import { exitCodes, exitMeanings } from '../../src/cli/output.ts';
import { type ErrorCode, effectOf, errors } from '../../src/failures/errors.ts';
import { variables } from '../../src/settings/environment.ts';
import { readmeLines } from '../bench/page.ts';
import { fullResult } from '../bench/result.ts';
import { testProgram } from '../support/cli.ts';

const program = testProgram();
const root = join(import.meta.dirname, '../..');
const optionsFile = join(root, 'src/settings/options.ts');

/** One option of `snippets()`, as its doc comment describes it. */
export interface DocumentedOption {
  name: string;
  /** All of the description. */
  description: string;
  default: string;
  environment: string;
  /** Those inside it, if it is an object. */
  inner: DocumentedOption[];
}

/** Reads the doc comments of the schema of options. */
export function documentedOptions(): DocumentedOption[] {
  const source = ts.createSourceFile(
    optionsFile,
    readFileSync(optionsFile, 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  );
  const objects = new Map<string, ts.ObjectLiteralExpression>();
  const visit = (node: ts.Node): void => {
    if (
      ts.isVariableDeclaration(node) &&
      node.initializer &&
      ts.isObjectLiteralExpression(node.initializer)
    ) {
      objects.set(node.name.getText(), node.initializer);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  const read = (name: string): DocumentedOption[] =>
    (objects.get(name)?.properties ?? ([] as readonly ts.ObjectLiteralElementLike[])).map((property) => {
      const option = documentedOption(property);
      return { ...option, inner: name === 'options' ? read(`${option.name}Options`) : [] };
    });
  return read('options');
}

function documentedOption(property: ts.ObjectLiteralElementLike): Omit<DocumentedOption, 'inner'> {
  const [comment] = ts.getJSDocCommentsAndTags(property).filter(ts.isJSDoc);
  const tag = (name: string) => {
    const found = comment?.tags?.find(({ tagName }) => tagName.text === name);
    return oneLine(ts.getTextOfJSDocComment(found?.comment));
  };
  return {
    name: property.name?.getText() ?? '',
    description: oneLine(ts.getTextOfJSDocComment(comment?.comment)),
    default: tag('default'),
    environment: tag('environment'),
  };
}

function oneLine(text: string | undefined): string {
  return (text ?? '').replace(/\s+/g, ' ').trim();
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

const firstSentence = (text: string) => text.replace(/(?<=[.:]) [A-Z].*$/s, '').replace(/\.$/, '');
const asCode = (text: string) => text.replace(/^[A-Z_]+/, '`$&`');
const shownDefault = (value: string) => (/^('.*'|\d+|true|false)$/.test(value) ? `\`${value}\`` : value);

/** One row for each option. */
function optionsTable(): string {
  const rows = documentedOptions().map(({ name, description, environment, default: value }) => [
    `[\`${name}\`](#${name.toLowerCase()})`,
    firstSentence(description),
    asCode(environment),
    shownDefault(value),
  ]);
  return table(['option', 'what it does', 'environment', 'default'], rows);
}

/** One section for each option, with all that its doc comment says. */
function optionSections(): string {
  const facts = ({ environment, default: value }: DocumentedOption) =>
    [
      ...(value === '' ? [] : [`Default: ${shownDefault(value)}.`]),
      ...(environment === '' ? [] : [`Environment: ${asCode(environment)}.`]),
    ].join(' ');
  const sections = documentedOptions().map((option) => {
    const { name, description, inner } = option;
    const list = inner.map((one) => `- \`${name}.${one.name}\`: ${one.description} ${facts(one)}`.trimEnd());
    const page = optionPages[name];
    return [
      `### \`${name}\``,
      description,
      ...(list.length > 0 ? [list.join('\n')] : []),
      [facts(option), page === undefined ? '' : `See ${page}.`].filter(Boolean).join(' '),
    ]
      .filter(Boolean)
      .join('\n\n');
  });
  return sections.join('\n\n');
}

/** Where the docs say more about an option. */
const optionPages: Record<string, string> = {
  editUrl: '[the toolbar](writing.md#the-toolbar)',
  editLinks: '[edit links in previews](writing.md#edit-links-in-previews)',
  cache: '[when the service is down](#when-the-service-is-down)',
  staleIfError: '[when the service is down](#when-the-service-is-down)',
  missingKey: '[environment](#environment)',
  exclude: '[examples stay](embeds.md#examples-stay)',
  params: '[params for a whole site](writing.md#params-for-a-whole-site)',
  sanitize: '[rules for HTML](security.md#rules-for-html)',
  links: '[links in snippets](writing.md#links-in-snippets)',
  scripts: '[rules for HTML](security.md#rules-for-html)',
  strict: '[rules for HTML](security.md#rules-for-html)',
  csp: '[Content Security Policy](security.md#content-security-policy)',
  images: '[images](styling-and-images.md#images)',
  classes: '[classes of snippets](styling-and-images.md#classes-of-snippets)',
};

const variableMeanings: Record<keyof typeof variables, string> = {
  apiKey: 'the API key; required as soon as a page has an embed',
  apiKeyFile: 'the path of a file that contains the key, to keep it out of the environment',
  renderBaseUrl: 'base URL of variant B (render)',
  retrieveBaseUrl: 'base URL of variant A (retrieve)',
  webhookSecret: 'what calls of `watch --listen` are signed with',
};

function variablesTable(): string {
  const rows = Object.entries(variableMeanings).map(([name, meaning]) => [
    `\`${variables[name as keyof typeof variables]}\``,
    meaning,
  ]);
  return table(['variable', ''], rows);
}

/** The table of exit statuses. */
function exitStatusTable(): string {
  const columns = ['ok', 'changed', 'needsBuild', 'failed', 'usage'] as const;
  const rows = Object.entries(exitMeanings).map(
    ([command, meanings]: [string, Partial<Record<string, string>>]) => [
      `[\`${command}\`](#${command})`,
      ...columns.map((name) => meanings[name] ?? ''),
    ],
  );
  return table(['exit status', ...columns.map((name) => String(exitCodes[name]))], rows);
}

const inCell = (text: string) => text.replaceAll('|', '\\|');
const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

function flagsTable({ options, registeredArguments }: Command): string {
  const rows = [
    ...registeredArguments.map((argument) => [
      `\`${argument.required ? `<${argument.name()}>` : `[${argument.name()}]`}\``,
      argument.description,
    ]),
    ...options.map(({ flags, description, argChoices, defaultValue }) => [
      `\`${flags}\``,
      [
        description,
        ...(argChoices === undefined ? [] : [`: ${argChoices.map((one) => `\`${one}\``).join(', ')}`]),
        ...(defaultValue === undefined ? [] : [` (default: \`${defaultValue}\`)`]),
      ].join(''),
    ]),
  ];
  return rows.length === 0
    ? ''
    : table(
        ['', ''],
        rows.map((cells) => cells.map(inCell)),
      );
}

/** All commands, in a block of code. */
function commandsList(): string {
  const lines = program.commands.map((command) => {
    const arguments_ = command.registeredArguments.map((one) =>
      one.required ? ` ${exampleArguments[one.name()] ?? ''}` : '',
    );
    return [`npx astro-snippets ${command.name()}${arguments_.join('')}`, command.description()] as const;
  });
  const width = Math.max(...lines.map(([line]) => line.length));
  const text = lines.map(([line, description]) => `${line.padEnd(width)}   # ${description}`);
  return `\`\`\`sh\n${text.join('\n')}\n\`\`\``;
}

const exampleArguments: Record<string, string> = { folder: '_site', id: '42' };

function commandSection(command: Command): string {
  const flags = flagsTable(command);
  return `${sentence(command.description())}\n${flags === '' ? '' : `\n${flags}\n`}`;
}

const effects: Record<ReturnType<typeof effectOf>, string> = {
  end: 'The build fails at once: nothing else could succeed.',
  fail: 'The build fails, after everything else was tried, so that all failures are reported together.',
  children: "The embed's children are shown, with a warning. Without children, the build fails.",
};

/** Codes that no build shows. */
const otherEffects: Partial<Record<ErrorCode, string>> = {
  'missing-manifest': 'The command ends with status 3. `check --exec` and `watch --build` build.',
  'missing-output': 'The command ends with status 2.',
  'unusable-output': 'The command ends with status 2.',
  'webhook-secret': 'The command ends with status 1.',
  'cannot-listen': 'The command ends with status 1.',
  aborted: 'The promise of the client rejects.',
  closed: 'The promise of the client rejects.',
};

/** Where the docs say more about an error. */
const errorPages: Partial<Record<ErrorCode, string>> = {
  'embed-in-attribute': '[Where an embed is an error](embeds.md#where-an-embed-is-an-error)',
  'embed-in-browser':
    '[What a browser writes](limits.md#what-a-browser-writes), [Islands](embeds.md#islands)',
  'embed-in-island': '[Islands](embeds.md#islands)',
  'embed-in-script': '[Where an embed is an error](embeds.md#where-an-embed-is-an-error)',
  'embed-in-xml': '[Feeds](embeds.md#feeds)',
  'embed-lost': '[What your own code removes](limits.md#what-your-own-code-removes)',
  'on-demand-page': '[Pages that are rendered on demand](limits.md#pages-that-are-rendered-on-demand)',
  'exposed-key': '[The key](security.md#the-key)',
  'published-key': '[The key](security.md#the-key)',
  'missing-key': '[Environment](options.md#environment)',
  'missing-url': '[Environment](options.md#environment)',
  'unreadable-key-file': '[Environment](options.md#environment)',
  'missing-manifest': '[Publishing](publishing.md)',
  'not-found': '[Optional snippets](embeds.md#optional-snippets)',
  'not-cached': '[When the service is down](options.md#when-the-service-is-down)',
  'params-failed': '[Params for a whole site](writing.md#params-for-a-whole-site)',
  'sanitize-failed': '[Rules for HTML](security.md#rules-for-html)',
  'script-refused': '[Rules for HTML](security.md#rules-for-html)',
  'left-open': '[Rules for HTML](security.md#rules-for-html)',
  'stale-compressed-file': '[What was made from a page](publishing.md#what-was-made-from-a-page)',
  'unrendered-component': '[Astro versions](upgrading.md#astro-versions)',
  'unsupported-node': '[Node](upgrading.md#node)',
  'webhook-secret': '[The secret](push.md#the-secret)',
  'cannot-listen': '[Push](push.md)',
};

/** A section for every error. */
function errorSections(): string {
  const codes = Object.keys(errors) as ErrorCode[];
  const sections = codes
    .sort((a, b) => a.localeCompare(b))
    .map((code) => {
      const { title, hint } = errors[code];
      const page = errorPages[code];
      const more = page === undefined ? '' : `\n\nMore: ${page}.`;
      return `### ${code}\n\n${escapeTags(title)}. ${otherEffects[code] ?? effects[effectOf({ code })]}\n\n${escapeTags(hint)}${more}`;
    });
  return sections.join('\n\n');
}

/** Tags in texts are examples, and would vanish from a page. So would braces in some renderers. */
function escapeTags(text: string): string {
  return text.replace(/`[^`]*`|(?:<\/?[A-Za-z][^<>]*>)+|\{[^{}]*\}/g, (found) =>
    found.startsWith('`') ? found : `\`${found}\``,
  );
}

/** What the pages take from the source, by the names of the parts. */
export function reference(): Map<string, string> {
  return new Map([
    ['options', optionsTable()],
    ['option-sections', optionSections()],
    ['variables', variablesTable()],
    ['exit-statuses', exitStatusTable()],
    ['common-flags', flagsTable(program)],
    ['commands', commandsList()],
    ...program.commands.map((command) => [`command ${command.name()}`, commandSection(command)] as const),
    ['errors', errorSections()],
    ['how-fast', readmeLines(JSON.parse(readFileSync(fullResult, 'utf8')))],
  ]);
}
