import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import ts from 'typescript';
import { exitCodes } from '../../src/cli/terminal/exit-codes.ts';
import { ignoredAttributes } from '../../src/embed/foreign-attributes.ts';
import { places } from '../../src/embed/places.ts';
import { consequenceOf, type ErrorCode, errorTable } from '../../src/failures/error-table.ts';
import { type WarningCode, warningTable } from '../../src/failures/warning-table.ts';
import { environmentVariables } from '../../src/settings/variable-names.ts';
import { readmeLines } from '../bench/page.ts';
import { fullResult } from '../bench/result.ts';
import { testProgram } from '../support/tools/cli.ts';

const program = testProgram();
const root = join(import.meta.dirname, '../..');
const optionsFile = join(root, 'src/settings/options.ts');

/** One option of `snippets()`, as its doc comment describes it. */
export interface DocumentedOption {
  name: string;
  description: string;
  default: string;
  /** The options inside it, if it is an object. */
  inner: DocumentedOption[];
}

/** Reads the doc comments of the options. */
export function documentedOptions(): DocumentedOption[] {
  const source = ts.createSourceFile(
    optionsFile,
    readFileSync(optionsFile, 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  );
  const interfaces = new Map(
    source.statements.filter(ts.isInterfaceDeclaration).map((one) => [one.name.text, one.members]),
  );
  const read = (name: string): DocumentedOption[] =>
    [...(interfaces.get(name) ?? [])].map((member) => {
      const option = documentedOption(member);
      // An option such as `cache` has its own options in `CacheOptions`.
      const innerName = `${option.name.charAt(0).toUpperCase()}${option.name.slice(1)}Options`;
      return { ...option, inner: name === 'SnippetsOptions' ? read(innerName) : [] };
    });
  return read('SnippetsOptions');
}

function documentedOption(member: ts.TypeElement): Omit<DocumentedOption, 'inner'> {
  const [comment] = ts.getJSDocCommentsAndTags(member).filter(ts.isJSDoc);
  const tag = (name: string) => {
    const found = comment?.tags?.find(({ tagName }) => tagName.text === name);
    return oneLine(ts.getTextOfJSDocComment(found?.comment));
  };
  return {
    name: member.name?.getText() ?? '',
    description: oneLine(ts.getTextOfJSDocComment(comment?.comment)),
    default: tag('default'),
  };
}

function oneLine(text: string | undefined): string {
  return (text ?? '').replace(/\s+/g, ' ').trim();
}

const shownDefault = (value: string) => (/^('.*'|\d+|true|false)$/.test(value) ? `\`${value}\`` : value);

/** One section per option, from its doc comment. */
function optionSections(): string {
  const defaultOf = ({ default: value }: DocumentedOption) =>
    value === '' ? '' : `Default: ${shownDefault(value)}.`;
  const sections = documentedOptions().map((option) => {
    const { name, description, inner } = option;
    const list = inner.map((one) =>
      `- \`${name}.${one.name}\`: ${one.description} ${defaultOf(one)}`.trimEnd(),
    );
    const page = optionPages[name];
    const text = [description, defaultOf(option), page && `See ${page}.`].filter(Boolean).join(' ');
    return [`### \`${name}\``, text, list.join('\n')].filter(Boolean).join('\n\n');
  });
  return sections.join('\n\n');
}

/** Pages with more about an option. */
const optionPages: Record<string, string> = {
  patience: '[Errors](errors.md#when-a-request-fails)',
  editUrl: '[Writing](writing.md#the-toolbar)',
  editLinks: '[Writing](writing.md#edit-links-in-previews)',
  exclude: '[Embeds](embeds.md#examples-stay)',
  params: '[Writing](writing.md#params-for-a-whole-site)',
  sanitize: '[Security](security.md#rules-for-html)',
  links: '[Writing](writing.md#links-in-snippets)',
  scripts: '[Security](security.md#rules-for-html)',
  strict: '[Security](security.md#rules-for-html)',
  csp: '[Security](security.md#content-security-policy)',
  images: '[Images](styling-and-images.md#images)',
  classes: '[Classes](styling-and-images.md#classes-of-snippets)',
};

const variableMeanings: Record<keyof typeof environmentVariables, string> = {
  apiKey: 'the API key, required once a page has an embed',
  apiKeyFile: 'the path of a file with the key, instead, or of a pipe, which has to end within 10 seconds',
  renderBaseUrl: 'base URL for rendering',
  retrieveBaseUrl: 'base URL for retrieving',
  caFile: "a file of certificates (PEM) to trust in addition to Node's and to those of `ca`",
  webhookSecret: 'the [secret](push.md#the-secret) of `watch --listen`',
};

function variablesList(): string {
  const rows = Object.entries(variableMeanings).map(
    ([name, meaning]) =>
      `- \`${environmentVariables[name as keyof typeof environmentVariables]}\`: ${meaning}`,
  );
  return rows.join('\n');
}

const statusMeanings: Record<keyof typeof exitCodes, string> = {
  ok: 'done: for `check`, nothing has changed; for `doctor`, a build would work',
  changed: '`check`: something has changed',
  needsBuild:
    'a build is needed: there is no usable record, a page is missing, or `refresh` cannot update one',
  failed: 'failed',
  usage: 'wrong usage',
};

function exitStatusList(): string {
  const rows = Object.entries(statusMeanings).map(([name, meaning]) => [
    String(exitCodes[name as keyof typeof exitCodes]),
    meaning,
  ]);
  return rows.map(([status, meaning]) => `- ${status}: ${meaning}`).join('\n');
}

/** Notes on the flags of a command. */
const flagNotes: Record<string, string> = {
  inline: 'See [Any generator](any-generator.md).',
  refresh: 'See [Publishing](publishing.md#refresh).',
  watch: 'See [Publishing](publishing.md#watch), and [Push](push.md) for `--listen`.',
  doctor:
    'It makes one request to each base URL. It reads no Astro config, and without `[id]`, a 404 of any service may pass.',
  get: 'The content goes to standard output, [byte for byte](security.md#what-is-not-promised) unless it is a terminal.',
};

/** The flags of all commands. */
function flagSections(): string {
  const sections = program.commands
    .filter((command) => flagsList(command) !== '')
    .map((command) => {
      const name = command.name();
      return [`### ${name}`, flagNotes[name], flagsList(command)].filter(Boolean).join('\n\n');
    });
  return [flagsList(program), ...sections].join('\n\n');
}

function flagsList({ options, registeredArguments }: Command): string {
  const rows = [
    ...registeredArguments.map((argument) => [
      argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
      argument.description,
    ]),
    // `--json` is said once for all commands.
    ...options
      .filter(({ long }) => long !== '--json')
      .map(({ flags, description, argChoices, defaultValue }) => [
        flags,
        [
          description,
          ...(argChoices === undefined ? [] : [`: ${argChoices.map((one) => `\`${one}\``).join(', ')}`]),
          ...(defaultValue === undefined ? [] : [` (default: \`${defaultValue}\`)`]),
        ].join(''),
      ]),
  ];
  return rows.map(([flag, meaning]) => `- \`${flag}\`: ${meaning}`).join('\n');
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

/** Groups of codes by their effect on a build. */
const groups = {
  end: 'Codes that end the build at once',
  fail: 'Codes that fail the build\n\nThe build tries all other snippets first.',
  children:
    'Codes of a service in trouble\n\nThe embed shows its children. Without children, the build fails.',
  command:
    'Codes of commands\n\nThe exit status is 3 for `missing-manifest`, 2 for a wrong `--output`, otherwise 1.',
  client: 'Codes of the client alone\n\nThe promise rejects.',
};

/** Codes whose group does not follow from their effect on a snippet. */
const otherGroups: Partial<Record<ErrorCode, keyof typeof groups>> = {
  'invalid-options': 'end',
  'missing-manifest': 'command',
  'missing-output': 'command',
  'unusable-output': 'command',
  'webhook-secret': 'command',
  'cannot-listen': 'command',
  aborted: 'client',
  closed: 'client',
};

/** Links that the docs add to a hint. */
const additions: Partial<Record<ErrorCode, string>> = {
  'embed-in-browser': 'See [Limits](limits.md#what-a-browser-writes).',
  'embed-lost': 'See [Limits](limits.md#what-your-own-code-removes).',
  'on-demand-page': 'See [Limits](limits.md#pages-that-are-rendered-on-demand).',
  'missing-key': 'See [Environment](options.md#environment).',
  'not-found': 'See [Optional snippets](embeds.md#optional-snippets).',
};

/** One section per error, with the hint from the terminal. */
function errorSections(): string {
  const codes = (Object.keys(errorTable) as ErrorCode[]).sort((a, b) => a.localeCompare(b));
  const sections = Object.entries(groups).map(([group, heading]) => {
    const own = codes.filter((code) => (otherGroups[code] ?? consequenceOf({ code })) === group);
    const texts = own.map((code) => {
      const text = [escapeTags(errorTable[code].hint), additions[code]].filter(Boolean).join(' ');
      return `### ${code}\n\n${text}`;
    });
    return [`## ${heading}`, ...texts].join('\n\n');
  });
  return sections.join('\n\n');
}

/** One line per warning about a snippet, with its hint. */
function warningsList(): string {
  const codes = (Object.keys(warningTable) as WarningCode[]).sort((a, b) => a.localeCompare(b));
  return codes
    .map((code) => {
      const { title, hint } = warningTable[code];
      return `- \`${code}\`: ${escapeTags(`${title}. ${hint}`)}`;
    })
    .join('\n');
}

/** Puts tags and braces into backticks: renderers would drop them. */
function escapeTags(text: string): string {
  return text.replace(/`[^`]*`|(?:<\/?[A-Za-z][^<>]*>)+|\{[^{}]*\}/g, (found) =>
    found.startsWith('`') ? found : `\`${found}\``,
  );
}

const shownNames = {
  html: 'the content',
  text: 'its text',
  url: 'its text, as a URL',
  nothing: 'fails the build',
};

/** What is shown where, as a table. */
function placesTable(): string {
  const rows = Object.values(places).map(({ where, shows, encoding }) => [
    where,
    shownNames[shows],
    encoding,
  ]);
  return tableOf(['place', 'shows', 'encoding'], rows);
}

/** The attributes that may stand on an embed, as a table. */
const ignoredAttributesTable = () =>
  tableOf(
    ['attribute', 'written by'],
    ignoredAttributes.map(({ written, by }) => [written, by]),
  );

function tableOf(head: string[], rows: string[][]): string {
  return [head, head.map((name) => '-'.repeat(name.length)), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`.replaceAll('|  |', '| |'))
    .join('\n');
}

/** The generated parts of the pages, by name. */
export function reference(): Map<string, string> {
  return new Map([
    ['options', optionSections()],
    ['variables', variablesList()],
    ['exit-statuses', exitStatusList()],
    ['flags', flagSections()],
    ['commands', commandsList()],
    ['errors', errorSections()],
    ['warnings', warningsList()],
    ['places', placesTable()],
    ['ignored-attributes', ignoredAttributesTable()],
    ['how-fast', readmeLines(JSON.parse(readFileSync(fullResult, 'utf8')))],
  ]);
}
