import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

// Checks what neither the compiler nor the linter can say about src. Part of `npm run check`.

const root = join(import.meta.dirname, '../..');
/** Editors, search and other tools skip folders with these names, as generated. */
const generatedFolders = ['build', 'dist', 'out', 'lib'];

interface Finding {
  /** The file and line that it is about. */
  place: string;
  message: string;
}

/** The names that a top-level statement defines. */
function definedNames(statement: ts.Statement): ts.Identifier[] {
  const namesIn = (name: ts.BindingName): ts.Identifier[] =>
    ts.isIdentifier(name)
      ? [name]
      : name.elements.flatMap((element) => (ts.isBindingElement(element) ? namesIn(element.name) : []));
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) => namesIn(name));
  }
  const isDeclaration =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isEnumDeclaration(statement);
  return isDeclaration && statement.name ? [statement.name] : [];
}

function checkFile(source: ts.SourceFile, classes: ReadonlySet<string>): Finding[] {
  const file = source.fileName;
  const findings: Finding[] = [];
  const report = (node: ts.Node, message: string) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    findings.push({ place: `${file}:${line + 1}`, message });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyDeclaration(node) && node.exclamationToken) {
      report(node, 'A field with `!` is known later: let the step that finds it out return it.');
    }
    if (ts.isVariableDeclaration(node) && node.exclamationToken) {
      report(node, 'A variable with `!` is known later: give it its value where it is declared.');
    }
    if (ts.isTypeReferenceNode(node)) {
      const name = node.typeName.getText();
      const argument = node.typeArguments?.[0]?.getText() ?? '';
      if (name === 'ReturnType') {
        report(node, '`ReturnType` hides a contract: write it as an interface with documented fields.');
      }
      if (name === 'Pick' && classes.has(argument)) {
        report(
          node,
          `\`Pick<${argument}, …>\` ties readers to a class: write what they need as an interface.`,
        );
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return findings;
}

const files = globSync('src/**/*.ts', { cwd: root }).map((file) => file.replaceAll('\\', '/'));
const sources = files
  .sort()
  .map((file) =>
    ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true),
  );
const definedIn = new Map<string, Set<string>>();
const classes = new Set<string>();
for (const { fileName, statements } of sources) {
  for (const statement of statements) {
    for (const { text } of definedNames(statement)) {
      definedIn.set(text, (definedIn.get(text) ?? new Set()).add(fileName));
      if (ts.isClassDeclaration(statement)) classes.add(text);
    }
  }
}
const findings = sources.flatMap((source) => checkFile(source, classes));
for (const [name, places] of definedIn) {
  if (places.size > 1) {
    const message = `\`${name}\` is defined in several files. One name means one thing: rename it, or share it.`;
    findings.push({ place: [...places].join(', '), message });
  }
}
for (const file of files) {
  const folder = file.split('/').find((part) => generatedFolders.includes(part));
  if (folder)
    findings.push({ place: file, message: `Tools skip a folder named \`${folder}\` as generated.` });
}
for (const { place, message } of findings) process.stderr.write(`${place}: ${message}\n`);
process.stdout.write(`${files.length} files of src checked, ${findings.length} findings.\n`);
if (findings.length > 0) process.exitCode = 1;
