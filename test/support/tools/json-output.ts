import { join } from 'node:path';
import ts from 'typescript';
import type {
  CheckOutput,
  DoctorOutput,
  ErrorOutput,
  ListOutput,
  RefreshOutput,
  ReportOutput,
  WatchOutput,
} from '../../../src/cli/json-output.ts';

/** The types of what commands print with `--json`, by name. */
export interface Outputs {
  ListOutput: ListOutput;
  CheckOutput: CheckOutput;
  RefreshOutput: RefreshOutput;
  WatchOutput: WatchOutput;
  DoctorOutput: DoctorOutput;
  ReportOutput: ReportOutput;
  ErrorOutput: ErrorOutput;
}

const types = join(import.meta.dirname, '../../../src/cli/json-output.ts');
const script = join(import.meta.dirname, 'output-of-a-command.ts');
const options: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es5.d.ts'],
  types: [],
};

const host = ts.createCompilerHost(options);
const read = host.getSourceFile.bind(host);
const files = new Map<string, ts.SourceFile | undefined>();
let text = '';
let program: ts.Program | undefined;
host.fileExists = (name) => name === script || ts.sys.fileExists(name);
host.getSourceFile = (name, version) => {
  if (name === script) return ts.createSourceFile(name, text, version);
  if (!files.has(name)) files.set(name, read(name, version));
  return files.get(name);
};

/**
 * Compiles a JSON document as a value of its type.
 *
 * @returns the type errors, such as unknown fields at any depth.
 */
export function flawsOf(name: keyof Outputs, json: string): string[] {
  text = `import type { ${name} } from ${JSON.stringify(types)};\nexport const output: ${name} = ${json};\n`;
  program = ts.createProgram([script], options, host, program);
  const source = program.getSourceFile(script);
  return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(
    ({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'),
  );
}

/** The names of the events that `watch` prints, from its type. */
export function watchEvents(): string[] {
  return Array.from(
    ts.sys.readFile(types)?.matchAll(/\bevent: '([\w-]+)'/g) ?? [],
    ([, event = '']) => event,
  );
}
