import { parseSnippetId } from '../client/snippet-input.ts';
import { type Examination, examine, type Probe } from '../doctor/examine.ts';
import { type Finding, type Stage, stages } from '../doctor/stages.ts';
import { type Settings, variables } from '../options.ts';
import { readManifest } from '../publish/manifest.ts';
import { hints } from '../report/hints.ts';
import { exitCodes } from './exit-codes.ts';
import { colored, nameOf, print } from './print.ts';
import { fileOf, type ProjectOptions, readSettings } from './project.ts';

const marks: Record<Finding, string> = { works: 'ok    ', fails: 'FAILED', unknown: '-     ' };
const colors = { works: 'green', fails: 'red', unknown: 'dim' } as const;

const variants = [
  { address: 'renderBaseUrl', name: 'Rendering (variant B)', variable: variables.renderBaseUrl },
  { address: 'retrieveBaseUrl', name: 'Retrieving (variant A)', variable: variables.retrieveBaseUrl },
] as const;

/** `astro-snippets doctor`: what works, what does not, and what to do about it. Asks each variant for one snippet. */
export async function doctor(project: ProjectOptions, id?: string): Promise<void> {
  print('Environment');
  say('works', `Node ${process.versions.node}`);
  const settings = await environment(project);
  if (settings === undefined) {
    process.exitCode = exitCodes.failed;
    return;
  }
  const probe = id === undefined ? await someSnippet(project) : named(id);
  let works = true;
  for (const { address, name, variable } of variants) {
    print(`\n${name}`);
    if (settings[address] === undefined) {
      say('unknown', `${variable} is not set, so this variant is not used`);
      continue;
    }
    say('works', `the address is ${settings[address]}`);
    const examination = await examine(settings, address, probe);
    works &&= examination.error === undefined;
    describe(examination, probe);
  }
  print(works ? '\nA build can fetch snippets.' : '\nA build cannot rely on this: mend what FAILED first.');
  process.exitCode = works ? exitCodes.ok : exitCodes.failed;
}

/** The settings, where all is set that a build needs. */
async function environment(project: ProjectOptions): Promise<Settings | undefined> {
  let settings: Settings;
  try {
    settings = await readSettings(project);
  } catch (error) {
    const { message, hint = '' } = error as Error & { hint?: string };
    say('fails', message, hint);
    return undefined;
  }
  const { apiKey, renderBaseUrl, retrieveBaseUrl } = settings;
  const source = process.env[variables.apiKey] ? 'in the environment' : 'in a file';
  if (apiKey === undefined) {
    say(
      'fails',
      `${variables.apiKey} is not set`,
      "Set it in the environment, or in a .env file of this folder that is not committed. The key is made on the service's website.",
    );
  } else say('works', `${variables.apiKey} is set, ${source}`);
  if (renderBaseUrl !== undefined || retrieveBaseUrl !== undefined) {
    return apiKey === undefined ? undefined : settings;
  }
  say(
    'fails',
    'no address of the service is set',
    `Set ${variables.renderBaseUrl}, ${variables.retrieveBaseUrl} or both. If they are options in the Astro config, build once: they are known from then on.`,
  );
  return undefined;
}

/** One that the site shows; else any number, for what the answer says of the key. */
async function someSnippet(project: ProjectOptions): Promise<Probe> {
  const shown = (await readManifest(fileOf(project.manifest)))?.snippets[0];
  return shown === undefined
    ? { id: 1, params: undefined, isGuess: true }
    : { id: shown.id, params: shown.params, isGuess: false };
}

function named(id: string): Probe {
  return { id: parseSnippetId(id), params: undefined, isGuess: false };
}

function describe({ findings, error, milliseconds }: Examination, probe: Probe): void {
  const isThere = probe.isGuess
    ? 'there may be no snippet 1, which says nothing: name one that you have, astro-snippets doctor 42'
    : `${nameOf(probe)} cannot be had`;
  const words: Record<Stage, Record<Finding, string>> = {
    connection: said('somebody answers there', 'nobody can be reached there'),
    certificate: said('the certificate is trusted', 'the certificate cannot be trusted'),
    address: said('the address leads to the service', 'the address leads somewhere else'),
    service: said('the service is well', 'the service is in trouble'),
    key: said('the key is known', 'the key is not known'),
    subscription: said('the subscription is valid', 'the subscription has ended'),
    permission: said('the key may do this', 'the key may not do this'),
    snippet: said(`${nameOf(probe)} came, after ${Math.round(milliseconds)} ms`, isThere),
  };
  for (const stage of stages) {
    const finding = findings[stage];
    const text =
      finding === 'unknown' && !(stage === 'snippet' && probe.isGuess)
        ? `${stage}: not known`
        : words[stage][finding];
    if (finding === 'fails' && error !== undefined) say(finding, text, error.message, hints[error.code]);
    else say(finding, text);
  }
}

function said(works: string, fails: string): Record<Finding, string> {
  return { works, fails, unknown: fails };
}

function say(finding: Finding, text: string, ...more: string[]): void {
  print(`  ${colored(colors[finding], marks[finding])} ${text}`);
  for (const line of more.filter(Boolean)) print(`         ${line}`);
}
