import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { exitCodes, exitMeanings } from '../../src/cli/output.ts';
import { type ErrorEntry, errors } from '../../src/failures/errors.ts';

const root = join(import.meta.dirname, '../..');
const optionsFile = join(root, 'src/settings/options.ts');

/** One option of `snippets()`, as its doc comment describes it. */
export interface DocumentedOption {
  name: string;
  description: string;
  default: string;
  environment: string;
}

/** Reads the doc comments of the schema of options. */
export function documentedOptions(): DocumentedOption[] {
  const source = ts.createSourceFile(
    optionsFile,
    readFileSync(optionsFile, 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  );
  const options: DocumentedOption[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && node.name.getText() === 'options') {
      const { properties } = node.initializer as ts.ObjectLiteralExpression;
      for (const property of properties) options.push(documentedOption(property));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return options;
}

function documentedOption(property: ts.ObjectLiteralElementLike): DocumentedOption {
  const [comment] = ts.getJSDocCommentsAndTags(property).filter(ts.isJSDoc);
  const tag = (name: string) => {
    const found = comment?.tags?.find(({ tagName }) => tagName.text === name);
    return oneLine(ts.getTextOfJSDocComment(found?.comment));
  };
  const description = oneLine(ts.getTextOfJSDocComment(comment?.comment));
  return {
    name: property.name?.getText() ?? '',
    description: description.replace(/(?<=[.:]) [A-Z].*$/s, '').replace(/\.$/, ''),
    default: tag('default'),
    environment: tag('environment'),
  };
}

function oneLine(text: string | undefined): string {
  return (text ?? '').replace(/\s+/g, ' ').trim();
}

/** The table of options for the README. */
export function optionsTable(): string {
  const rows = documentedOptions().map(({ name, description, default: value, environment }) => [
    `\`${name}\``,
    description,
    environment.replace(/^[A-Z_]+/, '`$&`'),
    /^('.*'|\d+|true|false)$/.test(value) ? `\`${value}\`` : value,
  ]);
  const table = [['option', 'what it does', 'environment', 'default'], ['---', '---', '---', '---'], ...rows];
  return table.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The table of exit statuses for the README. */
export function exitStatusTable(): string {
  const columns = ['ok', 'changed', 'needsBuild', 'failed', 'usage'] as const;
  const rows = Object.entries(exitMeanings).map(
    ([command, meanings]: [string, Partial<Record<string, string>>]) => [
      `\`${command}\``,
      ...columns.map((name) => meanings[name] ?? ''),
    ],
  );
  const head = ['exit status', ...columns.map((name) => String(exitCodes[name]))];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

const effects: Record<ErrorEntry['effect'], string> = {
  end: 'The build fails at once: nothing else could succeed.',
  fail: 'The build fails, after everything else was tried, so that all failures are reported together.',
  children: "The embed's children are shown, with a warning. Without children, the build fails.",
};

/** The page about every error. */
export function errorsPage(): string {
  const sections = Object.entries(errors as Record<string, ErrorEntry>)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([code, { title, effect, hint }]) => `## ${code}\n\n${title}. ${effects[effect]}\n\n${hint}\n`);
  return `# Errors\n\nEvery error has a permanent code, which is shown with it.\n\n${sections.join('\n')}`;
}
