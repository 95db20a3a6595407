import Type from 'typebox';
import { HOUR_MS, MINUTE_MS } from '../../lib/durations.ts';
import { command, field, members, nothing, translated } from './command.ts';
import { count, INSTALL, orNull, sentences, snapshot, uuid, wordpressVersion } from './message-values.ts';
import { REPOSITORY_PAGE, REPOSITORY_PART, repositoryFile, seenWebsite } from './moves.ts';

/** Bytes in messages. */
const part = Type.String({
  maxLength: Math.ceil(REPOSITORY_PART / 3) * 4,
  pattern: '^[A-Za-z0-9+/]*={0,2}$',
});

/** Commands of a move, which the control plane sends to the former and to the new machine of a website. */
export const MOVE_COMMANDS = {
  holdWebsite: command(
    'hold_website',
    [INSTALL, field('seconds', orNull(Type.Integer({ minimum: 1, maximum: 3_600 })))],
    nothing,
    { withinMs: 2 * MINUTE_MS, route: 'host' },
  ),
  releaseWebsite: command('release_website', [INSTALL], nothing, { withinMs: 2 * MINUTE_MS, route: 'host' }),
  handOver: command('hand_over', [INSTALL], nothing, { withinMs: 5 * MINUTE_MS, route: 'host' }),
  snapshotBase: command('snapshot_base', [INSTALL, field('backupId', uuid)], snapshot, {
    withinMs: 6 * HOUR_MS,
    route: 'host',
    reportsProgress: true,
  }),
  snapshotChanges: command(
    'snapshot_changes',
    [INSTALL, field('backupId', uuid), field('baseId', uuid)],
    snapshot,
    { withinMs: 6 * HOUR_MS, route: 'host', reportsProgress: true },
  ),
  stageSnapshot: command('stage_snapshot', [INSTALL, field('backupId', uuid)], nothing, {
    withinMs: 6 * HOUR_MS,
    route: 'host',
    reportsProgress: true,
  }),
  restoreChanges: command(
    'restore_changes',
    [
      INSTALL,
      field('backupId', uuid),
      members({ baseId: uuid, wordpressVersion: Type.Optional(wordpressVersion) }),
    ],
    snapshot,
    { withinMs: 6 * HOUR_MS, route: 'host', reportsProgress: true },
  ),
  listRepository: command(
    'list_repository',
    [INSTALL, field('after', orNull(repositoryFile))],
    Type.Array(repositoryFile, { maxItems: REPOSITORY_PAGE }),
    { withinMs: 10 * MINUTE_MS, route: 'host' },
  ),
  readRepository: translated(
    command('read_repository', [INSTALL, field('name', repositoryFile), field('offset', count)], part, {
      withinMs: 2 * MINUTE_MS,
      route: 'host',
      isIdleTalk: true,
    }),
    {
      write: (bytes: Buffer) => bytes.toString('base64'),
      read: (encoded): Buffer => Buffer.from(encoded, 'base64'),
    },
  ),
  writeRepository: command(
    'write_repository',
    [
      INSTALL,
      field('name', repositoryFile),
      field('part', Type.Object({ offset: count, isLast: Type.Boolean(), content: part })),
    ],
    nothing,
    { withinMs: 2 * MINUTE_MS, route: 'host', isIdleTalk: true },
  ),
  trimRepository: command(
    'trim_repository',
    [INSTALL, field('names', Type.Array(repositoryFile, { maxItems: REPOSITORY_PAGE }))],
    nothing,
    { withinMs: 10 * MINUTE_MS, route: 'host' },
  ),
  observeWebsite: command('observe_website', [INSTALL], seenWebsite, {
    withinMs: 5 * MINUTE_MS,
    route: 'host',
    isCancellable: true,
  }),
  compareWebsite: command('compare_website', [INSTALL, field('before', seenWebsite)], orNull(sentences), {
    withinMs: 5 * MINUTE_MS,
    route: 'host',
    isCancellable: true,
  }),
};
