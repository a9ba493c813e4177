import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { parse } from 'yaml';

/** A step of a job. */
interface Step {
  id?: string;
  if?: string;
  uses?: string;
  run?: string;
  with?: Record<string, unknown>;
}

/** Events by name, with their filters. */
export type Triggers = Record<string, unknown>;

/** The events that a workflow runs on. */
export function triggersOf(text: string): Triggers {
  return (parse(text) as { on: Triggers }).on;
}

interface Workflow {
  env: Record<string, string>;
  steps: Step[];
}

/** The names that expressions can use: `github`, `secrets`, `vars`, `steps`. */
export type Context = Record<string, unknown>;

/** Carries out what the steps of a workflow ask for. */
export interface WorkflowRunner {
  /** Runs a script with `bash -e`, as GitHub does. @returns the exit status. */
  run(script: string, environment: Record<string, string>): Promise<number>;
  /** Runs an action with its inputs. */
  use(action: string, inputs: Record<string, string>): Promise<void>;
  /** The path of an empty file for the outputs of a step. */
  outputFile(): string;
}

const stepKeys = new Set(['id', 'if', 'uses', 'run', 'with']);

/**
 * Runs the only job of a workflow, as far as the docs need: anything else in a workflow is an error, so that
 * the docs cannot depend on untested parts. After a failed step, the others are skipped.
 *
 * @returns whether the job succeeded.
 */
export async function runWorkflow(text: string, context: Context, runner: WorkflowRunner): Promise<boolean> {
  const { env, steps } = readWorkflow(text);
  // A step that did not run has no outputs.
  const outputs = Object.fromEntries(steps.map(({ id = '' }) => [id, { outputs: {} }]));
  const seen = { ...context, steps: outputs };
  const environment = fillIn(env, seen);
  for (const step of steps) {
    if (step.if !== undefined && !evaluate(step.if, seen)) continue;
    if (step.uses !== undefined) {
      await runner.use(step.uses, fillIn(step.with ?? {}, seen));
      continue;
    }
    const outputFile = runner.outputFile();
    const status = await runner.run(fillInText(step.run ?? '', seen), {
      ...environment,
      GITHUB_OUTPUT: outputFile,
      GITHUB_STEP_SUMMARY: `${outputFile}-summary`,
    });
    if (status !== 0) return false;
    if (step.id !== undefined) outputs[step.id] = { outputs: readOutputs(outputFile) };
  }
  return true;
}

function readWorkflow(text: string): Workflow {
  const { jobs } = parse(text) as { jobs: Record<string, Workflow> };
  const [job, ...others] = Object.values(jobs);
  if (job === undefined || others.length > 0) throw new Error('Expected one job.');
  for (const step of job.steps) {
    const unknown = Object.keys(step).filter((key) => !stepKeys.has(key));
    if (unknown.length > 0) throw new Error(`Unknown in a step: ${unknown.join(', ')}`);
  }
  return job;
}

function readOutputs(file: string): Record<string, string> {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return Object.fromEntries(lines.map((line) => line.split('=', 2) as [string, string]));
}

function fillIn(values: Record<string, unknown>, context: Context): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, fillInText(String(value), context)]),
  );
}

function fillInText(text: string, context: Context): string {
  return text.replace(/\$\{\{(.*?)\}\}/g, (_whole, expression: string) =>
    String(evaluate(expression, context) ?? ''),
  );
}

/**
 * Evaluates an expression. Comparisons and `||` work as in JavaScript. GitHub's functions are not supported,
 * and an error.
 */
function evaluate(expression: string, context: Context): unknown {
  return runInNewContext(expression, { ...context });
}
