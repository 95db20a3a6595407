import Type from 'typebox';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../lib/durations.ts';
import { command, field, members, nothing } from './command.ts';
import { MOST_ROUTES } from './edge-routes.ts';
import { HostFiguresSchema } from './figures.ts';
import { INVENTORY_PAGE, LISTED_HOSTNAMES } from './inventory.ts';
import { MailQueueReportSchema, MailSelectionSchema } from './mail.ts';
import {
  closed,
  count,
  descriptionSchema,
  hostName,
  install,
  installName,
  ipAddress,
  orNull,
  pem,
  port,
  sentences,
  sha256,
  uuid,
  wordpressVersion,
} from './message-values.ts';
import { UsageCursorSchema, UsagePageSchema } from './usage.ts';
import { WordPressSourceSchema } from './wordpress.ts';
import { FetchedReleasesSchema } from './wordpress-updates.ts';
import { WpCliSourceSchema, WpCliVersionSchema } from './wp-cli.ts';

/** Hosts of one fleet. */
const MOST_HOSTS = 1_000;
/** Unencrypted, as ssh-keygen(1) writes it. */
const sshPrivateKey = Type.String({
  maxLength: 16 * 1024,
  pattern:
    '^-----BEGIN OPENSSH PRIVATE KEY-----\\n[A-Za-z0-9+/=\\n]+\\n-----END OPENSSH PRIVATE KEY-----\\n$',
});

/** Commands about a host itself. Each row is described by the method of that name in {@link HostMachine}. */
export const MACHINE_COMMANDS = {
  describe: command('describe', [], descriptionSchema, {
    withinMs: 15 * SECOND_MS,
    route: 'host',
    isIdleTalk: true,
  }),
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
  joinEdges: command(
    'join_edges',
    [
      field('identity', orNull(Type.Object({ certificate: pem, key: pem, authority: pem }, closed))),
      field(
        'others',
        Type.Array(Type.Object({ hostId: uuid, host: ipAddress, port }, closed), {
          maxItems: MOST_HOSTS,
        }),
      ),
    ],
    nothing,
    // nginx may take over a new configuration.
    { withinMs: 2 * MINUTE_MS, route: 'host' },
  ),
  setRoutes: command(
    'set_routes',
    [
      field(
        'routes',
        Type.Array(
          Type.Object(
            {
              installId: uuid,
              hostId: orNull(uuid),
              user: Type.Optional(orNull(installName)),
              names: Type.Array(
                Type.Object(
                  { name: hostName, certificate: orNull(Type.Object({ chain: pem, key: pem }, closed)) },
                  closed,
                ),
              ),
              digest: sha256,
            },
            closed,
          ),
          { maxItems: MOST_ROUTES },
        ),
      ),
    ],
    nothing,
    // Each certificate is written to disk.
    { withinMs: 5 * MINUTE_MS, route: 'host' },
  ),
  heldRoutes: command(
    'held_routes',
    [field('after', orNull(uuid))],
    Type.Array(Type.Object({ installId: uuid, digest: sha256 }), { maxItems: INVENTORY_PAGE }),
    { withinMs: 15 * SECOND_MS, route: 'host', isIdleTalk: true },
  ),
  readSshHostKey: command('read_ssh_host_key', [], sshPrivateKey, {
    withinMs: 15 * SECOND_MS,
    route: 'host',
  }),
  shareSshHostKey: command('share_ssh_host_key', [field('key', sshPrivateKey)], nothing, {
    // sshd restarts.
    withinMs: MINUTE_MS,
    route: 'host',
  }),
  readUsage: command('read_usage', [field('since', orNull(UsageCursorSchema))], UsagePageSchema, {
    withinMs: MINUTE_MS,
    route: 'host',
    isIdleTalk: true,
  }),
  readFigures: command('read_figures', [], HostFiguresSchema, {
    withinMs: 15 * SECOND_MS,
    route: 'host',
    isIdleTalk: true,
  }),
  mailQueue: command('mail_queue', [members(MailSelectionSchema.properties)], MailQueueReportSchema, {
    withinMs: 30 * SECOND_MS,
    route: 'host',
  }),
  retryMail: command('retry_mail', [members(MailSelectionSchema.properties)], count, {
    withinMs: 30 * SECOND_MS,
    route: 'host',
  }),
  deleteMail: command('delete_mail', [members(MailSelectionSchema.properties)], count, {
    withinMs: 5 * MINUTE_MS,
    route: 'host',
  }),
  addWordpress: command('add_wordpress', [field('source', orNull(WordPressSourceSchema))], wordpressVersion, {
    withinMs: 15 * MINUTE_MS,
    route: 'host',
  }),
  addReleases: command('add_releases', [], FetchedReleasesSchema, { withinMs: HOUR_MS, route: 'host' }),
  addWpCli: command('add_wp_cli', [field('source', orNull(WpCliSourceSchema))], WpCliVersionSchema, {
    withinMs: 10 * MINUTE_MS,
    route: 'host',
  }),
};
