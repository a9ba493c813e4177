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

function checkFile(file: string, definedIn: Map<string, Set<string>>): Finding[] {
  const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true);
  const findings: Finding[] = [];
  const report = (node: ts.Node, message: string) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    findings.push({ place: `${file}:${line + 1}`, message });
  };
  for (const name of source.statements.flatMap(definedNames)) {
    const files = definedIn.get(name.text) ?? new Set();
    definedIn.set(name.text, files.add(file));
  }
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyDeclaration(node) && node.exclamationToken) {
      report(node, 'A field with `!` is known later: let the step that finds it out return it.');
    }
    if (ts.isVariableDeclaration(node) && node.exclamationToken) {
      report(node, 'A variable with `!` is known later: give it its value where it is declared.');
    }
    if (ts.isTypeReferenceNode(node) && node.typeName.getText() === 'ReturnType') {
      report(node, '`ReturnType` hides a contract: write it as an interface with documented fields.');
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return findings;
}

const definedIn = new Map<string, Set<string>>();
const files = globSync('src/**/*.ts', { cwd: root }).map((file) => file.replaceAll('\\', '/'));
const findings = files.sort().flatMap((file) => checkFile(file, definedIn));
for (const [name, places] of definedIn) {
  if (places.size > 1) {
    const message = `\`${name}\` is defined in several files. One name means one thing: rename it, or share it.`;
    findings.push({ place: [...places].join(', '), message });
  }
}
for (const file of files) {
  const folder = file.split('/').find((part) => generatedFolders.includes(part));
  if (folder) findings.push({ place: file, message: `Tools skip a folder named \`${folder}\` as generated.` });
}
for (const { place, message } of findings) process.stderr.write(`${place}: ${message}\n`);
process.stdout.write(`${files.length} files of src checked, ${findings.length} findings.\n`);
if (findings.length > 0) process.exitCode = 1;
