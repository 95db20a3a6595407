import { type Command, Option } from 'commander';
import { type Endpoint, type Field, readEndpoints } from '../api/endpoints.ts';
import { optionOf, valuesOf } from '../api/program.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { collect } from '../terminal/arguments.ts';
import type { OperatorCommand } from './commands.ts';

/** Options for members that hold the id of another thing, which people name. */
const REFERENCES: Record<string, { flags: string; description: string; many?: true }> = {
  account_id: {
    flags: '--account <account>',
    description: 'the account: its name or id. Optional if there is only one',
  },
  install_id: { flags: '--install <install>', description: 'only of this install: its name or id' },
  site_id: { flags: '--site <site>', description: 'the site: its name or id, or "none"' },
  redirect_to: { flags: '--redirect-to <domain>', description: 'a domain of the same install, or "none"' },
  install_ids: {
    flags: '--install <install>',
    description: 'an install for a partial user (repeatable)',
    many: true,
  },
};
/** Of lists, which the command line shows whole. */
const PAGING = new Set(['limit', 'offset', 'cursor', 'sort', 'wait']);

/** Adds the options, the last argument and the action of a command, from the description of its operation. */
export function completeCommand(command: Command, spec: OperatorCommand): void {
  const endpoint = readEndpoints().find(({ id }) => id === spec.operation);
  const offered = spec.body === undefined ? (endpoint?.body ?? []) : [];
  const named = offered.find(({ name, required }) => name === 'name' && required);
  if (named !== undefined) command.argument('<name>', named.description);
  const fields = [...(endpoint?.query ?? []).filter(({ name }) => !PAGING.has(name)), ...offered].filter(
    (field) => field !== named,
  );
  for (const field of fields) command.addOption(optionFor(field, spec));
  if (spec.subject === 'domain')
    command.option('--install <install>', 'its install, if several have the domain');
  if (spec.subject === 'user')
    command.option('--account <account>', 'the account, if the user is in several');
  if (spec.subject === 'site')
    command.option('--account <account>', 'its account, if several have a site of this name');
  if (spec.consent !== undefined) command.option('-y, --yes', 'do not ask');
  if (endpoint?.startsWork || spec.starts !== undefined)
    command.option('--no-wait', 'do not wait until the work has ended');
  command.option('--json', `print JSON: ${jsonOf(endpoint)}`);
  command.action(async (...given: unknown[]) => {
    const words = given.slice(0, command.registeredArguments.length).map(String);
    const values = {
      ...(endpoint === undefined ? {} : valuesOf(endpoint, command)),
      ...command.opts<Record<string, unknown>>(),
    };
    await withPlatform(command, async (platform, services) => {
      const { perform } = await import('./perform.ts');
      await perform({ spec, endpoint, named }, { words, values }, { platform, services });
    });
  });
}

function optionFor(field: Field, { defaults = {} }: OperatorCommand): Option {
  const reference = REFERENCES[field.name];
  if (reference === undefined) return optionOf(field, field.required && !(field.name in defaults));
  const option = new Option(reference.flags, reference.description);
  return reference.many ? option.argParser(collect) : option;
}

function jsonOf(endpoint: Endpoint | undefined): string {
  if (endpoint === undefined || endpoint.method === 'DELETE') return 'its ids';
  return endpoint.isPaged ? 'an array of the answers of the API' : 'the answer of the API';
}
