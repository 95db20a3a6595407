import { readFile } from 'node:fs/promises';
import { text as readStream } from 'node:stream/consumers';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Services } from '../../app/services.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import type { Platform } from '../../platform/platform.ts';
import { waitForJob } from '../platform/wait-for-job.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { alignedPairs, printJson, table } from '../terminal/output.ts';
import { readRedirectFile } from './redirect-file.ts';

/** `homeport install protection`, `redirects` and `cache-rules`. */
export function addRulesCommands(install: Command): void {
  addProtection(install);
  addRedirects(install);
  addCacheRules(install);
}

const JSON_OPTION = ['--json', 'print JSON, as the API answers it'] as const;
/** A list of options that stands for no entries. */
const NONE = 'none';

interface ProtectionOptions {
  password?: 'on' | 'off';
  username?: string;
  newPassword?: true;
  noindex?: 'automatic' | 'on' | 'off';
  xmlrpc?: 'allowed' | 'blocked';
  blockedAddresses?: string[];
  allowedAddresses?: string[];
  json?: boolean;
}

function addProtection(install: Command): void {
  install
    .command('protection')
    .summary('show or change who may visit an install')
    .description(
      'show who may visit an install: the password of visitors, blocked addresses, search engines and XML-RPC. With options, change it first. ' +
        'Lists replace the present ones; "none" empties them',
    )
    .argument('<name>', 'the install')
    .addOption(new Option('--password <state>', 'whether visitors need a password').choices(['on', 'off']))
    .option('--username <name>', 'the user name that visitors enter')
    .option('--new-password', 'choose a new random password')
    .addOption(new Option('--noindex <when>', 'keep search engines away').choices(['automatic', 'on', 'off']))
    .addOption(new Option('--xmlrpc <state>', 'requests to xmlrpc.php').choices(['allowed', 'blocked']))
    .option('--blocked-addresses <ranges...>', 'IP addresses and ranges that get an error page')
    .option('--allowed-addresses <ranges...>', 'IP addresses and ranges that need no password')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nExample:\n  homeport install protection harbourcafe --password on --blocked-addresses 192.0.2.0/24 198.51.100.7',
    )
    .action(async (name: string, options: ProtectionOptions, command: Command) => {
      const { password, username, newPassword, noindex, xmlrpc, blockedAddresses, allowedAddresses, json } =
        options;
      const change = {
        ...(noindex && { noindex }),
        ...(xmlrpc && { xmlrpc }),
        ...(blockedAddresses && { blocked_addresses: listOf(blockedAddresses) }),
        password: {
          ...(password && { enabled: password === 'on' }),
          ...(username !== undefined && { username }),
          ...(newPassword && { password: null }),
          ...(allowedAddresses && { allowed_addresses: listOf(allowedAddresses) }),
        },
      };
      const { protectionChange } = await import('./rule-changes.ts');
      await withPlatform(command, async (platform, services) => {
        const { protection, operationId } = isEmpty(change)
          ? { protection: await services.protection.get({ name }), operationId: null }
          : await services.protection.update({ name }, protectionChange(change));
        if (!(await waitUntilServed(name, operationId, platform, services))) return;
        if (json) return printJson(protection);
        const { enabled, username: user, password: secret, allowed_addresses } = protection.password;
        process.stdout.write(
          alignedPairs([
            ['password', enabled ? 'on' : 'off'],
            ...(enabled
              ? ([
                  ['user name', user],
                  ['password of visitors', secret ?? ''],
                  ['needs no password', shownList(allowed_addresses)],
                ] satisfies [string, string][])
              : []),
            ['search engines', `noindex ${protection.noindex}`],
            ['XML-RPC', protection.xmlrpc],
            ['blocked addresses', shownList(protection.blocked_addresses)],
          ]),
        );
      });
    });
}

function addRedirects(install: Command): void {
  const redirects = install.command('redirects').description('manage the redirects of paths of an install');

  redirects
    .command('list')
    .description('list the redirects of an install; the first that matches counts')
    .argument('<name>', 'the install')
    .option('--json', 'print JSON: an array of id, position, match, from, to, status, keep_query')
    .addHelpText('after', '\nExample:\n  homeport install redirects list harbourcafe')
    .action(async (name: string, { json }: { json?: boolean }, command: Command) => {
      await withPlatform(command, async (_platform, services) => {
        const { results } = await services.redirects.list(
          { name },
          { limit: Number.MAX_SAFE_INTEGER, offset: 0 },
        );
        if (json) return printJson(results);
        process.stdout.write(
          results.length === 0
            ? `${name} has no redirects.\n`
            : table(
                ['NO', 'MATCH', 'FROM', 'TO', 'STATUS', 'QUERY'],
                results.map(({ position, match, from, to, status, keep_query }) => [
                  String(position),
                  match,
                  from,
                  to,
                  String(status),
                  keep_query ? 'kept' : 'dropped',
                ]),
              ),
        );
      });
    });

  redirects
    .command('import')
    .description(
      'add redirects from a CSV file, all or none. Its columns are from, to, status (301, 302, 307, 308), match (exact, prefix, regex) and ' +
        'keep_query (true, false); the last three are optional, and a first line with these names sets their order',
    )
    .argument('<name>', 'the install')
    .argument('<file>', 'the file, or - for standard input')
    .option('--replace', 'replace the present redirects of the install')
    .option('--json', 'print JSON: count, total')
    .addHelpText('after', '\nExample:\n  homeport install redirects import harbourcafe redirects.csv')
    .action(
      async (
        name: string,
        file: string,
        { replace, json }: { replace?: boolean; json?: boolean },
        command: Command,
      ) => {
        const redirectsOfFile = readRedirectFile(await readInput(file));
        if (redirectsOfFile.length === 0) throw new OperatorError(`There are no redirects in ${file}.`);
        const { redirectImport } = await import('./rule-changes.ts');
        await withPlatform(command, async (platform, services) => {
          const { count, total, operationId } = await services.redirects.import(
            { name },
            redirectImport({ redirects: redirectsOfFile, replace: replace === true }),
          );
          if (!(await waitUntilServed(name, operationId, platform, services))) return;
          if (json) return printJson({ count, total });
          process.stdout.write(`Imported ${count} redirects; ${name} has ${total}.\n`);
        });
      },
    );

  redirects
    .command('remove')
    .description('remove a redirect of an install')
    .argument('<name>', 'the install')
    .argument('<id>', 'the id of the redirect, from "homeport install redirects list --json"')
    .option('--json', 'print JSON: id')
    .addHelpText(
      'after',
      '\nExample:\n  homeport install redirects remove harbourcafe a47c2e90-5d18-4b63-9f0e-c83b71d6205f',
    )
    .action(async (name: string, id: string, { json }: { json?: boolean }, command: Command) => {
      await withPlatform(command, async (platform, services) => {
        const operationId = await services.redirects.remove({ name }, id);
        if (!(await waitUntilServed(name, operationId, platform, services))) return;
        if (json) return printJson({ id });
        process.stdout.write('The redirect is removed.\n');
      });
    });
}

interface CacheOptions {
  maxAge?: number;
  uncachedPaths?: string[];
  bypassCookies?: string[];
  ignoredParameters?: string[];
  json?: boolean;
}

function addCacheRules(install: Command): void {
  install
    .command('cache-rules')
    .summary('show or change the rules of the page cache of an install')
    .description(
      'show what the page cache of an install keeps. With options, change it first and purge the cache. Lists replace the present ones; ' +
        '"none" empties them',
    )
    .argument('<name>', 'the install')
    .option('--max-age <seconds>', 'no cached page is older: 10 to 3600', secondsArgument)
    .option(
      '--uncached-paths <paths...>',
      'pages that are never cached: /members/, or /members/* for everything below',
    )
    .option(
      '--bypass-cookies <names...>',
      'cookies whose visitors bypass the cache; a final * matches any ending',
    )
    .option('--ignored-parameters <names...>', 'query parameters that do not change a page')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nExample:\n  homeport install cache-rules harbourcafe --max-age 600 --uncached-paths "/members/*"',
    )
    .action(async (name: string, options: CacheOptions, command: Command) => {
      const { maxAge, uncachedPaths, bypassCookies, ignoredParameters, json } = options;
      const change = {
        ...(maxAge !== undefined && { max_age: maxAge }),
        ...(uncachedPaths && { uncached_paths: listOf(uncachedPaths).map(pathRule) }),
        ...(bypassCookies && { bypass_cookies: listOf(bypassCookies) }),
        ...(ignoredParameters && { ignored_parameters: listOf(ignoredParameters) }),
      };
      const { cacheRulesChange } = await import('./rule-changes.ts');
      await withPlatform(command, async (platform, services) => {
        const { cacheRules, operationId } =
          Object.keys(change).length === 0
            ? { cacheRules: await services.cacheRules.get({ name }), operationId: null }
            : await services.cacheRules.update({ name }, cacheRulesChange(change));
        if (!(await waitUntilServed(name, operationId, platform, services))) return;
        if (json) return printJson(cacheRules);
        const { uncached_paths, bypass_cookies, ignored_parameters, max_age } = cacheRules;
        process.stdout.write(
          alignedPairs([
            ['longest time', `${max_age} s`],
            [
              'never cached',
              shownList(
                uncached_paths.map(({ match, path }) =>
                  match === 'prefix' ? `${path.replace(/\/+$/, '')}/*` : path,
                ),
              ),
            ],
            ['bypassing cookies', shownList(bypass_cookies)],
            ['ignored parameters', shownList(ignored_parameters)],
          ]),
        );
      });
    });
}

/** False if the command was interrupted before the edge obeys. */
async function waitUntilServed(
  name: string,
  operationId: string | null,
  platform: Platform,
  services: Services,
): Promise<boolean> {
  if (operationId === null) return true;
  const ended = await waitForJob(
    operationId,
    { title: `Changing ${name}`, subject: `The change of ${name}` },
    platform,
    services,
  );
  if (ended !== undefined && ended.state !== 'succeeded') {
    throw new OperatorError(
      `The change is stored, and could not be applied: ${ended.error ?? 'the install was deleted meanwhile'}`,
    );
  }
  return ended !== undefined;
}

function isEmpty({ password, ...rest }: { password: object }): boolean {
  return Object.keys(password).length + Object.keys(rest).length === 0;
}

const listOf = (given: string[]): string[] => (given.length === 1 && given[0] === NONE ? [] : given);
const shownList = (list: readonly string[]): string => (list.length === 0 ? NONE : list.join(', '));

function pathRule(text: string) {
  return text.endsWith('/*')
    ? { match: 'prefix' as const, path: text.slice(0, -2) || '/' }
    : { match: 'exact' as const, path: text };
}

async function readInput(file: string): Promise<string> {
  try {
    return file === '-' ? await readStream(process.stdin) : await readFile(file, 'utf8');
  } catch (cause) {
    throw new OperatorError(`${file} cannot be read.`, { cause });
  }
}

function secondsArgument(text: string): number {
  const seconds = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (seconds < 10 || seconds > 3_600) throw new InvalidArgumentError('It must be a number from 10 to 3600.');
  return seconds;
}
