import { text } from 'node:stream/consumers';
import { Command, Option } from 'commander';
import { OperatorError } from '../../lib/operator-error.ts';
import { withOwnCommand } from '../../lib/own-command.ts';
import { requireConsent } from '../terminal/confirm.ts';
import { HELP_OUTPUT, table } from '../terminal/output.ts';
import { callEndpoint, connect } from './call.ts';
import { type Endpoint, type Field, findEndpoint, readEndpoints, wordsOf } from './endpoints.ts';
import {
  apiUrl,
  connectionOf,
  DEFAULT_PROFILE,
  profilesFile,
  readCertificate,
  readProfiles,
  writeProfiles,
} from './profiles.ts';
import { bodyOf, flagOf, readValue } from './values.ts';

/** The commands of `homeport api`: one for each endpoint of the description, and those that manage profiles. */
export function createApiProgram(environment: Record<string, string | undefined>): Command {
  const program = new Command('homeport api')
    .description('Call the API of a Homeport server, on this machine or another.')
    .addHelpText('after', HELP)
    .showHelpAfterError('(see homeport api --help)')
    .configureOutput(HELP_OUTPUT)
    .configureHelp({ subcommandTerm: termOf });
  addProfileCommands(program, environment);
  for (const endpoint of readEndpoints()) addEndpoint(program, endpoint, environment);
  return program;
}

const HELP = `
Environment:
  HOMEPORT_API_URL         address of the server; replaces the profile
  HOMEPORT_API_CREDENTIAL  username:password of an API credential
  HOMEPORT_API_CA          file with the certificate to trust

Example:
  homeport api login --url https://panel.example.com --username ID
  homeport api list-installs --status active
  homeport api create-backup INSTALL --description "before the update" --notification-emails me@example.com`;

const termOf = (command: Command) =>
  [command.name(), ...command.registeredArguments.map((argument) => `<${argument.name()}>`)].join(' ');

interface EndpointOptions extends Record<string, unknown> {
  json?: boolean;
  all?: boolean;
  wait?: boolean;
  yes?: boolean;
  body?: unknown;
  profile?: string;
}

function addEndpoint(
  program: Command,
  endpoint: Endpoint,
  environment: Record<string, string | undefined>,
): void {
  const command = program
    .command(wordsOf(endpoint.id).join('-'))
    .summary(endpoint.summary.replace(/^./, (letter) => letter.toLowerCase()))
    .description(endpoint.description)
    .helpGroup(`${endpoint.tag}:`);
  for (const { name, description } of endpoint.ids) {
    command.argument(`<${name.replaceAll('_', '-')}>`, description);
  }
  for (const field of endpoint.query) command.addOption(optionOf(field, false));
  for (const field of endpoint.body) command.addOption(optionOf(field, field.required));
  if (endpoint.body.length > 0)
    command.option('--body <json>', 'whole body: JSON, @FILE, or - for the standard input');
  if (endpoint.isPaged) command.option('--all', 'every page');
  if (endpoint.method === 'DELETE') command.option('-y, --yes', 'do not ask');
  if (endpoint.startsWork) command.option('--no-wait', 'do not wait until the work has ended');
  command.option('--json', 'print JSON').option('--profile <name>', 'server and credential to use');
  command.action(async (...given: unknown[]) => {
    const ids = endpoint.ids.map(({ name }, index): [string, string] => [name, String(given[index])]);
    const options = command.opts<EndpointOptions>();
    const values = valuesOf(endpoint, command);
    if (endpoint.method === 'DELETE' && options.yes !== true) {
      await requireConsent(`${endpoint.summary} (${ids.map(([, id]) => id).join(', ')})?`, {
        effect: 'This cannot be undone.',
        kept: 'Nothing was changed.',
      });
    }
    const body = bodyOf(endpoint, values, typeof options.body === 'string' ? options.body : undefined);
    await callEndpoint(
      connect(connectionOf(environment, options.profile)),
      endpoint,
      {
        path: Object.fromEntries(ids),
        query: Object.fromEntries(endpoint.query.map(({ name }) => [name, values[name]])),
        ...(body === undefined ? {} : { body }),
      },
      { json: options.json === true, all: options.all === true, wait: options.wait !== false },
    );
  });
}

/** A required field is not a required option, because --body can hold it; the server names what is missing. */
export function optionOf(field: Field, required: boolean): Option {
  const choices = field.values.join('|');
  const areShort = choices !== '' && choices.length <= LONGEST_CHOICES;
  const placeholder = areShort ? choices : PLACEHOLDERS[field.type];
  const notes = [
    field.description,
    choices === '' || areShort ? '' : `(one of ${field.values.join(', ')})`,
    field.type === 'texts' ? '(repeatable)' : '',
    required ? '(required)' : '',
  ];
  const value = field.type === 'boolean' ? `[${placeholder}]` : `<${placeholder}>`;
  return new Option(`${flagOf(field.name)} ${value}`, notes.filter(Boolean).join(' ')).argParser(
    (given, earlier) => readValue(field, given, earlier),
  );
}

/** Longer ones are listed in the explanation, so that the help fits a terminal. */
const LONGEST_CHOICES = 24;

const PLACEHOLDERS: Record<Field['type'], string> = {
  text: 'text',
  number: 'number',
  boolean: 'true|false',
  texts: 'text',
  json: 'json',
};

/** The given values by the name of their field. */
export function valuesOf(endpoint: Endpoint, command: Command): Record<string, unknown> {
  return Object.fromEntries(
    [...endpoint.query, ...endpoint.body].map(({ name }) => {
      const option = command.options.find(({ long }) => long === flagOf(name));
      return [name, option === undefined ? undefined : command.getOptionValue(option.attributeName())];
    }),
  );
}

function addProfileCommands(program: Command, environment: Record<string, string | undefined>): void {
  const file = profilesFile(environment);
  const group = 'Profiles:';
  program
    .command('login')
    .helpGroup(group)
    .summary('save a server and a credential')
    .description(
      'Save a server and a credential, after checking them. The password is read from the standard input.',
    )
    .requiredOption('--url <url>', 'address of the server', apiUrl)
    .requiredOption('--username <id>', 'username of the API credential')
    .option('--ca <file>', 'certificate to trust, if the server has its own')
    .option('--profile <name>', 'name of the profile', DEFAULT_PROFILE)
    .addHelpText(
      'after',
      '\nExample:\n  homeport api login --url https://panel.example.com --username ID < password.txt',
    )
    .action(
      async ({
        url,
        username,
        ca,
        profile,
      }: Record<'url' | 'username' | 'profile', string> & { ca?: string }) => {
        if (process.stdin.isTTY) process.stderr.write('Password, then Enter and Ctrl-D: ');
        const password = (await text(process.stdin)).trim();
        if (password === '') throw new OperatorError('The standard input has no password.');
        const entry = { url, username, password, ...(ca === undefined ? {} : { ca: readCertificate(ca) }) };
        const choices = { json: false, all: false, wait: false };
        await callEndpoint(connect(entry), findEndpoint('getCurrentUser'), {}, choices);
        writeProfiles(file, { ...readProfiles(file), [profile]: entry });
        process.stderr.write(`Saved the profile "${profile}" in ${file}.\n`);
      },
    );
  program
    .command('logout')
    .helpGroup(group)
    .description('remove a profile')
    .option('--profile <name>', 'name of the profile', DEFAULT_PROFILE)
    .action(({ profile }: { profile: string }) => {
      const { [profile]: removed, ...kept } = readProfiles(file);
      if (removed === undefined) throw new OperatorError(`There is no profile "${profile}".`);
      writeProfiles(file, kept);
      process.stderr.write(
        `Removed the profile "${profile}". Its credential works until you revoke it in the portal.\n`,
      );
    });
  program
    .command('profiles')
    .helpGroup(group)
    .description('list the profiles')
    .action(() => {
      const rows = Object.entries(readProfiles(file)).map(([name, { url, username }]) => [
        name,
        url,
        username,
      ]);
      process.stdout.write(
        rows.length === 0
          ? withOwnCommand('There are no profiles. Add one with "homeport api login".\n')
          : table(['PROFILE', 'URL', 'USERNAME'], rows),
      );
    });
}
