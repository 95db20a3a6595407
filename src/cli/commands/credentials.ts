import type { Command } from 'commander';
import type { Services } from '../../app/services.ts';
import type { Person } from '../../features/accounts/account-users/store.ts';
import type { WantedLimits } from '../../features/identity/credentials/rules.ts';
import type { CredentialView } from '../../features/identity/credentials/service.ts';
import type { Clock } from '../../lib/clock.ts';
import { NotFound } from '../../lib/failures.ts';
import { parseUuid } from '../../lib/ids.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { withOwnCommand } from '../../lib/own-command.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { collect, idArgument, nameArgument } from '../terminal/arguments.ts';
import { curlLine } from '../terminal/curl-line.ts';
import { alignedPairs, heading, printJson, shownTime, table } from '../terminal/output.ts';
import { parseExpiry } from './expiry.ts';

export function addCredentialCommands(program: Command): void {
  const credential = program
    .command('credential')
    .description('manage API credentials: a username and a random password for a user');

  credential
    .command('create')
    .description('create credentials for a user; the password is shown once')
    .requiredOption('--user <email>', 'the user')
    .option('--name <text>', 'purpose of the credentials', nameArgument, 'command line')
    .option('--expires <when>', 'when they expire: 90d, 12h, 2030-01-31 (00:00 UTC) or a time')
    .option('--read-only', 'allow reading only')
    .option('--account <account>', 'limit them to this account of the user: its name or id')
    .option('--install <name>', 'limit them to this install of the account (repeatable)', collect)
    .option('--json', 'print JSON: username, password, user, name, expires_at, read_only, account, installs')
    .addHelpText(
      'after',
      '\nExample:\n  homeport credential create --user frida@agency.example --name deployment --expires 90d' +
        '\n  homeport credential create --user frida@agency.example --read-only --account "Harbour Agency" --install harbourcafe',
    )
    .action(createCredential);

  credential
    .command('list')
    .description('list credentials with last use (to the minute), expiry and state, oldest first')
    .option('--user <email>', 'credentials of this user only')
    .option(
      '--json',
      'print JSON: an array of username, user, name, state, read_only, account, installs, last_used_at, expires_at, revoked_at, created_at',
    )
    .addHelpText('after', '\nExample:\n  homeport credential list --user frida@agency.example')
    .action(listCredentials);

  credential
    .command('revoke')
    .description('revoke credentials; takes effect within 5 seconds')
    .argument('<username>', 'the API username ("homeport credential list")', idArgument)
    .addHelpText('after', '\nExample:\n  homeport credential revoke 1e6a4c0e-6f0f-4d1e-9d0b-2f1f3f5a7c11')
    .action(revokeCredential);
}

interface CreateOptions {
  user: string;
  name: string;
  expires?: string;
  readOnly?: boolean;
  account?: string;
  install?: string[];
  json?: boolean;
}

async function createCredential(options: CreateOptions, command: Command) {
  const { user, name, expires, readOnly = false, install, json } = options;
  await withPlatform(command, async ({ config, clock }, services) => {
    const expiresAt = expires === undefined ? null : parseExpiry(expires, clock);
    const person = await requirePerson(services, user);
    const account = options.account === undefined ? null : requireAccount(person, options.account);
    if (install && !account) {
      throw new OperatorError('--install needs --account. Name the account of the installs.');
    }
    const limits: WantedLimits = {
      readOnly,
      accountId: account?.id ?? null,
      installs: install ? { by: 'name', values: install } : null,
    };
    const issued = await services.credentials.issue(person.id, { name, expiresAt, limits });
    const expires_at = expiresAt?.toISOString() ?? null;
    const reach = { read_only: readOnly, account, installs: install ?? null };
    if (json) return printJson({ ...issued, user: person.email, name, expires_at, ...reach });
    process.stdout.write(
      [
        heading(`Credentials for ${person.email} (shown only now)`),
        alignedPairs([
          ['Username', issued.username],
          ['Password', issued.password],
          ['Expires', shownTime(expires_at, 'never')],
          ['Reaches', reachInWords(reach)],
        ]),
        heading('Try it'),
        `  ${curlLine(config, issued)}\n`,
      ].join('\n'),
    );
  });
}

async function listCredentials({ user, json }: { user?: string; json?: boolean }, command: Command) {
  await withPlatform(command, async ({ clock }, services) => {
    if (user !== undefined) await requirePerson(services, user);
    const all = (await services.credentials.list(user)).map((credential) => shown(credential, clock));
    if (json) return printJson(all);
    process.stdout.write(
      all.length === 0
        ? withOwnCommand('There are no credentials yet. Create some with "homeport credential create".\n')
        : table(
            ['USERNAME', 'USER', 'NAME', 'STATE', 'REACHES', 'LAST USED', 'EXPIRES'],
            all.map(({ username, user, name, state, last_used_at, expires_at, ...reach }) => [
              username,
              user,
              name,
              state,
              reachInWords(reach),
              shownTime(last_used_at, 'never'),
              shownTime(expires_at, 'never'),
            ]),
          ),
    );
  });
}

async function revokeCredential(username: string, _options: object, command: Command) {
  await withPlatform(command, async (_platform, { credentials }) => {
    await credentials.revoke(username).catch((error: unknown) => {
      if (!(error instanceof NotFound)) throw error;
      throw new OperatorError(
        `There are no credentials ${username}. List them with "homeport credential list".`,
      );
    });
    process.stdout.write(`Revoked ${username}.\n`);
  });
}

function shown(credential: CredentialView, clock: Clock) {
  const { id, email, name, read_only, account, installs, ...times } = credential;
  const { last_used_at, expires_at, revoked_at, created_at } = times;
  const reach = { read_only, account, installs: installs?.map((install) => install.name) ?? null };
  const state = stateOf(times, clock);
  return {
    username: id,
    user: email,
    name,
    state,
    ...reach,
    last_used_at,
    expires_at,
    revoked_at,
    created_at,
  };
}

interface Reach {
  read_only: boolean;
  account: { name: string } | null;
  installs: string[] | null;
}

/** "reads all", "harbourcafe, lighthouse of Harbour Agency" */
function reachInWords({ read_only, account, installs }: Reach): string {
  const names = installs?.join(', ') ?? 'all';
  const where = account === null ? names : `${names || 'nothing'} of ${account.name}`;
  return read_only ? `reads ${where}` : where;
}

/** Finds an account of a user by id or name. */
function requireAccount({ email, accounts }: Person, text: string): { id: string; name: string } {
  const id = parseUuid(text);
  const meant = accounts.filter((account) => (id === undefined ? account.name === text : account.id === id));
  const [account] = meant;
  if (account && meant.length === 1) return { id: account.id, name: account.name };
  throw new OperatorError(
    account
      ? `${email} is in ${meant.length} accounts named "${text}". Use the id of one ("homeport account list").`
      : `${email} is in no account "${text}". List accounts of users with "homeport user list".`,
  );
}

function stateOf(
  { revoked_at, expires_at }: Pick<CredentialView, 'revoked_at' | 'expires_at'>,
  clock: Clock,
): 'active' | 'expired' | 'revoked' {
  if (revoked_at !== null) return 'revoked';
  return expires_at !== null && expires_at <= clock.now().toISOString() ? 'expired' : 'active';
}

async function requirePerson({ accountUsers }: Services, email: string) {
  const person = await accountUsers.findPerson(email);
  if (person) return person;
  throw new OperatorError(
    `There is no user with the address ${email}. List users with "homeport user list", or add one with "homeport user create".`,
  );
}
