import Type from 'typebox';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../lib/durations.ts';
import { backupMove, heldBackups, listedBackups, movedBackups, placesReport } from './backup-messages.ts';
import { itemOrder, itemOutcome } from './change-messages.ts';
import { command, field, members, nothing, options, translated } from './command.ts';
import { databaseLink } from './database-messages.ts';
import { CACHE_KINDS } from './host.ts';
import { INVENTORY_PAGE, LISTED_HOSTNAMES } from './inventory.ts';
import { installMail, mailQueueReport, mailSelection } from './mail-messages.ts';
import {
  base64,
  closed,
  count,
  cursor,
  daily,
  descriptionSchema,
  hostName,
  importedWebsite,
  importSource,
  install,
  installName,
  login,
  logPage,
  logQuery,
  orNull,
  pagePath,
  parts,
  phpVersion,
  proof,
  restoredSnapshot,
  sentences,
  sha256,
  snapshot,
  state,
  storage,
  text,
  uuid,
  wordpressSource,
  wordpressUser,
  wordpressVersion,
} from './message-values.ts';
import { MOST_PAGE_PATHS } from './page-path.ts';
import { absentAs, cut, newer } from './sent-value.ts';
import { MOST_READ_BYTES } from './snapshots.ts';
import { availableUpdate, updateOrder, wantedUpdates } from './update-messages.ts';
import { USAGE_PAGE } from './usage.ts';
import { wordpressMark, wordpressReading, wordpressUnread } from './wordpress-messages.ts';
import { MOST_UPDATES, type UpdateOutcome } from './wordpress-updates.ts';
import { WP_CLI_SECONDS } from './wp-cli.ts';
import { wpCliArguments, wpCliOutcome, wpCliSource, wpCliVersion } from './wp-cli-messages.ts';

const INSTALL = field('install', install);

/**
 * Every operation of a host that another process can call, by its method in {@link HostMachine}, which describes it. The client, the server,
 * the fleet and the list in docs/host-commands.md are derived from it.
 */
export const COMMANDS = {
  describe: command('describe', [], descriptionSchema, {
    withinMs: 15 * SECOND_MS,
    route: 'host',
    isIdleTalk: true,
  }),
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
  remove: command(
    'remove',
    [INSTALL, options({ keepBackups: Type.Optional(Type.Boolean(newer(false))) })],
    nothing,
    { withinMs: 5 * MINUTE_MS, route: 'own' },
  ),
  retire: command('retire', [INSTALL], nothing, { withinMs: 5 * MINUTE_MS, route: 'keeper' }),
  removeBackups: command('remove_backups', [INSTALL], nothing, { withinMs: HOUR_MS, route: 'keeper' }),
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
  measureStorage: command('measure_storage', [INSTALL], storage, {
    withinMs: 30 * MINUTE_MS,
    route: 'website',
    isCancellable: true,
  }),

  snapshot: command('snapshot', [INSTALL, field('backupId', uuid)], snapshot, {
    withinMs: 6 * HOUR_MS,
    route: 'website',
    reportsProgress: true,
  }),
  restore: command(
    'restore',
    [
      INSTALL,
      field('backupId', uuid),
      options({
        from: Type.Optional(Type.Union([install, Type.Null()], absentAs(null))),
        parts: Type.Optional(parts),
        wordpressVersion: Type.Optional(wordpressVersion),
      }),
    ],
    restoredSnapshot,
    { withinMs: 6 * HOUR_MS, route: 'website', reportsProgress: true },
  ),
  discardSnapshot: command('discard_snapshot', [INSTALL, field('backupId', uuid)], nothing, {
    withinMs: HOUR_MS,
    route: 'website',
  }),
  heldBackups: command('held_backups', [INSTALL], heldBackups, {
    withinMs: 15 * MINUTE_MS,
    route: 'website',
  }),
  pack: command(
    'pack',
    [INSTALL, members({ backupId: uuid, archiveId: uuid })],
    Type.Object({ bytes: count, sha256 }),
    { withinMs: 6 * HOUR_MS, route: 'website', isCancellable: true },
  ),
  readPacked: translated(
    command(
      'read_packed',
      [
        INSTALL,
        field('archiveId', uuid),
        members({
          offset: count,
          length: Type.Integer({ minimum: 1, maximum: MOST_READ_BYTES, ...cut }),
        }),
      ],
      base64,
      { withinMs: 30 * SECOND_MS, route: 'website', isIdleTalk: true },
    ),
    {
      write: (bytes: Buffer) => bytes.toString('base64'),
      read: (encoded): Buffer => Buffer.from(encoded, 'base64'),
    },
  ),
  discardPacked: command('discard_packed', [INSTALL, field('archiveId', uuid)], nothing, {
    withinMs: MINUTE_MS,
    route: 'website',
  }),
  backupPlaces: command('backup_places', [], placesReport, { withinMs: 5 * MINUTE_MS, route: 'host' }),
  moveBackups: command('move_backups', [members(backupMove.properties)], movedBackups, {
    // Terabytes by a slow line. A timer cannot wait longer than 24 days.
    withinMs: 20 * DAY_MS,
    route: 'host',
    reportsProgress: true,
  }),
  acceptBackupPlace: command('accept_backup_place', [], placesReport, {
    withinMs: 5 * MINUTE_MS,
    route: 'host',
  }),
  forgetFormerBackups: command('forget_former_backups', [field('listed', listedBackups)], count, {
    withinMs: DAY_MS,
    route: 'host',
    isCancellable: true,
  }),

  createDatabaseLink: command('create_database_link', [INSTALL], databaseLink, {
    withinMs: 30 * SECOND_MS,
    route: 'website',
  }),
  createLogin: command('create_login', [INSTALL, field('user', orNull(wordpressUser))], login, {
    // Shorter than the validity of a login.
    withinMs: 30 * SECOND_MS,
    route: 'website',
  }),
  readWordPress: command(
    'read_wordpress',
    [INSTALL, members({ check: Type.Boolean() })],
    Type.Union([wordpressReading, wordpressUnread]),
    {
      // Each of its runs of PHP has a limit of a minute.
      withinMs: 5 * MINUTE_MS,
      route: 'website',
      isCancellable: true,
    },
  ),
  wordpressMarks: command(
    'wordpress_marks',
    [field('after', orNull(uuid))],
    Type.Array(Type.Object({ installId: uuid, mark: wordpressMark }), { maxItems: INVENTORY_PAGE }),
    { withinMs: MINUTE_MS, route: 'host', isIdleTalk: true },
  ),
  planUpdates: command(
    'plan_updates',
    [INSTALL, field('wanted', wantedUpdates)],
    Type.Object({
      updates: Type.Array(availableUpdate, { maxItems: MOST_UPDATES + 1 }),
      refused: Type.Array(sentences, { maxItems: MOST_UPDATES }),
    }),
    { withinMs: 5 * MINUTE_MS, route: 'website', isCancellable: true },
  ),
  updateWordpress: translated(
    command(
      'update_wordpress',
      [INSTALL, field('order', updateOrder)],
      Type.Object({
        made: Type.Array(availableUpdate, { maxItems: MOST_UPDATES + 1 }),
        skipped: Type.Optional(
          Type.Array(Type.Object({ update: availableUpdate, reason: sentences }), {
            maxItems: MOST_UPDATES + 1,
          }),
        ),
        restored: Type.Optional(Type.Boolean()),
        rolledBack: orNull(
          Type.Object({
            update: orNull(availableUpdate),
            reason: sentences,
            mayKeep: Type.Optional(Type.Boolean()),
          }),
        ),
        warning: Type.Optional(sentences),
        wordpressVersion,
      }),
      {
        // It can wait for a backup, and restore one.
        withinMs: 6 * HOUR_MS,
        route: 'website',
        reportsProgress: true,
      },
    ),
    {
      write: (outcome: UpdateOutcome) => outcome,
      // Hosts of earlier versions leave `skipped` and `restored` out.
      read: ({ skipped = [], restored, ...outcome }) => ({
        ...outcome,
        skipped,
        restored: restored ?? outcome.rolledBack !== null,
      }),
    },
  ),
  changeItem: command('change_item', [INSTALL, field('order', itemOrder)], itemOutcome, {
    withinMs: 6 * HOUR_MS,
    route: 'website',
    reportsProgress: true,
  }),
  readLog: command('read_log', [INSTALL, field('query', logQuery)], logPage, {
    // A search ends earlier, but may wait for others.
    withinMs: 30 * SECOND_MS,
    route: 'website',
    isCancellable: true,
    isIdleTalk: true,
  }),
  importWebsite: command(
    'import_website',
    [
      INSTALL,
      field('source', importSource),
      options({ importId: Type.Optional(Type.Union([uuid, Type.Null()], absentAs(null))) }),
    ],
    importedWebsite,
    { withinMs: 6 * HOUR_MS, route: 'website', reportsProgress: true },
  ),
  lastImport: command('last_import', [INSTALL], orNull(uuid), {
    // It waits for other work on the website.
    withinMs: HOUR_MS,
    route: 'website',
  }),
  runWpCli: command('run_wp_cli', [INSTALL, field('args', wpCliArguments)], wpCliOutcome, {
    // The host itself ends commands earlier.
    withinMs: (WP_CLI_SECONDS + 60) * SECOND_MS,
    route: 'website',
    isCancellable: true,
    isUnrepeatable: true,
  }),
  readMail: command('read_mail', [INSTALL], installMail, { withinMs: 15 * SECOND_MS, route: 'website' }),
  mailQueue: command('mail_queue', [members(mailSelection.properties)], mailQueueReport, {
    withinMs: 30 * SECOND_MS,
    route: 'host',
  }),
  retryMail: command('retry_mail', [members(mailSelection.properties)], count, {
    withinMs: 30 * SECOND_MS,
    route: 'host',
  }),
  deleteMail: command('delete_mail', [members(mailSelection.properties)], count, {
    withinMs: 5 * MINUTE_MS,
    route: 'host',
  }),
  publish: command('publish', [members({ ...proof, text: Type.String({ maxLength: 4096 }) })], nothing, {
    withinMs: 15 * SECOND_MS,
    route: 'own',
  }),
  withdraw: command('withdraw', [members(proof)], nothing, { withinMs: 10 * SECOND_MS, route: 'own' }),
  readUsage: command(
    'read_usage',
    [field('since', orNull(Type.Object(cursor, closed)))],
    Type.Object({
      ...cursor,
      days: Type.Array(
        Type.Object({
          installId: uuid,
          day: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
          requests: daily,
          bytes: daily,
          visits: daily,
          // Hosts of earlier versions leave it out.
          pages: Type.Optional(Type.Object({ requests: daily, hits: daily, milliseconds: daily })),
        }),
        { maxItems: USAGE_PAGE },
      ),
      more: Type.Boolean(),
    }),
    { withinMs: MINUTE_MS, route: 'host', isIdleTalk: true },
  ),
  inspect: command(
    'inspect',
    [field('expected', Type.Array(install)), field('repair', Type.Boolean())],
    Type.Array(
      Type.Object({
        thing: sentences,
        message: sentences,
        mended: orNull(Type.Boolean()),
        remedy: orNull(sentences),
        backupOf: Type.Optional(uuid),
      }),
      { maxItems: 20_000 },
    ),
    {
      // It requests pages of every install, and repairs some.
      withinMs: 60 * MINUTE_MS,
      route: 'host',
    },
  ),
  heldInstalls: command(
    'held_installs',
    [field('after', orNull(uuid))],
    Type.Object({
      platform: orNull(uuid),
      installs: Type.Array(
        Type.Object({
          id: uuid,
          name: orNull(installName),
          hostnames: Type.Array(hostName, { maxItems: LISTED_HOSTNAMES }),
          digest: orNull(sha256),
          lost: Type.Optional(Type.Array(sentences, { maxItems: 10 })),
        }),
        { maxItems: INVENTORY_PAGE },
      ),
    }),
    { withinMs: MINUTE_MS, route: 'host', isIdleTalk: true },
  ),
  belongTo: command('belong_to', [field('platform', uuid)], nothing, {
    withinMs: 15 * SECOND_MS,
    route: 'host',
  }),
  setAside: command(
    'set_aside',
    [field('platform', uuid), field('installs', Type.Array(uuid, { maxItems: INVENTORY_PAGE }))],
    Type.Array(uuid, { maxItems: INVENTORY_PAGE }),
    {
      // It ends the processes of a whole page of installs.
      withinMs: 10 * MINUTE_MS,
      route: 'host',
    },
  ),
  addWordpress: command('add_wordpress', [field('source', orNull(wordpressSource))], wordpressVersion, {
    withinMs: 15 * MINUTE_MS,
    route: 'host',
  }),
  addReleases: command(
    'add_releases',
    [],
    Type.Object({
      added: Type.Array(wordpressVersion, { maxItems: 200 }),
      failures: Type.Array(sentences, { maxItems: 200 }),
    }),
    { withinMs: HOUR_MS, route: 'host' },
  ),
  addWpCli: command('add_wp_cli', [field('source', orNull(wpCliSource))], wpCliVersion, {
    withinMs: 10 * MINUTE_MS,
    route: 'host',
  }),
};
