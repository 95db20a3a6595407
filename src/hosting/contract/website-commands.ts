import Type from 'typebox';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../lib/durations.ts';
import { command, field, members, nothing, options } from './command.ts';
import { DatabaseLinkRefusedSchema, DatabaseLinkSchema } from './database-access.ts';
import { CACHE_KINDS } from './host.ts';
import { LogPageSchema, LogQuerySchema, LogRefusedSchema } from './logs.ts';
import { InstallMailSchema, MailRefusedSchema } from './mail.ts';
import {
  INSTALL,
  orNull,
  pagePath,
  phpVersion,
  proof,
  state,
  text,
  wordpressVersion,
} from './message-values.ts';
import { MOST_PAGE_PATHS } from './page-path.ts';
import { newer } from './sent-value.ts';
import { MeasuredStorageSchema } from './usage.ts';

/** Commands about websites as a whole. Each row is described by the method of that name in {@link HostMachine}. */
export const WEBSITE_COMMANDS = {
  apply: command(
    'apply',
    [field('state', state)],
    Type.Object({
      phpVersion: orNull(phpVersion),
      wordpressVersion: orNull(wordpressVersion),
      stableIps: orNull(Type.Array(text(45), { maxItems: 16 })),
      hasFormerUrls: Type.Optional(Type.Boolean()),
    }),
    { withinMs: 10 * MINUTE_MS, route: 'own', isCancellable: true },
  ),
  makeForRestore: command('make_for_restore', [field('state', state)], nothing, {
    withinMs: 10 * MINUTE_MS,
    route: 'own',
    isCancellable: true,
  }),
  remove: command(
    'remove',
    [INSTALL, options({ keepBackups: Type.Optional(Type.Boolean(newer(false))) })],
    nothing,
    { withinMs: 5 * MINUTE_MS, route: 'own' },
  ),
  retire: command('retire', [INSTALL], nothing, { withinMs: 5 * MINUTE_MS, route: 'keeper' }),
  purge: command('purge', [INSTALL, field('cache', Type.Enum([...CACHE_KINDS]))], nothing, {
    withinMs: 30 * SECOND_MS,
    route: 'website',
  }),
  purgePages: command(
    'purge_pages',
    [INSTALL, field('paths', Type.Array(pagePath, { maxItems: MOST_PAGE_PATHS }))],
    nothing,
    { withinMs: 30 * SECOND_MS, route: 'website' },
  ),
  restartPhp: command('restart_php', [INSTALL], nothing, {
    // The stop and the start of a daemon.
    withinMs: 2 * MINUTE_MS,
    route: 'website',
  }),
  replaceUrls: command('replace_urls', [INSTALL], nothing, {
    withinMs: HOUR_MS,
    route: 'website',
    isCancellable: true,
  }),
  measureStorage: command('measure_storage', [INSTALL], MeasuredStorageSchema, {
    withinMs: 30 * MINUTE_MS,
    route: 'website',
    isCancellable: true,
  }),
  createDatabaseLink: command(
    'create_database_link',
    [INSTALL],
    Type.Union([DatabaseLinkSchema, DatabaseLinkRefusedSchema]),
    {
      withinMs: 30 * SECOND_MS,
      route: 'website',
    },
  ),
  readLog: command(
    'read_log',
    [INSTALL, field('query', LogQuerySchema)],
    Type.Union([LogPageSchema, LogRefusedSchema]),
    {
      // A search ends earlier, but may wait for others.
      withinMs: 30 * SECOND_MS,
      route: 'website',
      isCancellable: true,
      isIdleTalk: true,
    },
  ),
  readMail: command('read_mail', [INSTALL], Type.Union([InstallMailSchema, MailRefusedSchema]), {
    withinMs: 15 * SECOND_MS,
    route: 'website',
  }),
  publish: command('publish', [members({ ...proof, text: Type.String({ maxLength: 4096 }) })], nothing, {
    withinMs: 15 * SECOND_MS,
    route: 'own',
  }),
  withdraw: command('withdraw', [members(proof)], nothing, { withinMs: 10 * SECOND_MS, route: 'own' }),
};
