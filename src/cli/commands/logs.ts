import { setTimeout as wait } from 'node:timers/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { LogFilter, LogService } from '../../features/websites/logs/service.ts';
import { LOG_KINDS, LOG_PAGE, LONGEST_SEARCH, type LogKind } from '../../hosting/contract/choices.ts';
import type { LogEntries } from '../../hosting/contract/logs.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../lib/durations.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { entryText } from './log-text.ts';

const FOLLOW_PAUSE_MS = 1_000;
const STANDARD = 100;

export function addLogCommand(install: Command): void {
  install
    .command('logs')
    .summary('show a log of an install')
    .description(
      'show a log of an install, oldest entry first: its requests, the errors of PHP, the runs of WP-Cron or its mail. Shows the ' +
        'newest entries, unless --since or --limit says otherwise',
    )
    .argument('<name>', 'the install')
    .addOption(new Option('--kind <kind>', 'the log').choices([...LOG_KINDS]).default('access'))
    .option('--since <time>', 'entries since this time: 30m, 12h or 7d ago, or 2030-01-31T12:00:00Z')
    .option('--search <text>', 'entries with this text, in upper or lower case', searchArgument)
    .option('--limit <number>', 'the most entries', limitArgument, STANDARD)
    .option('--follow', 'wait for further entries, until Ctrl-C')
    .option('--json', 'print each entry as a line of JSON')
    .addHelpText('after', '\nExample:\n  homeport install logs harbourcafe --kind php --since 12h --follow')
    .action(showLog);
}

interface Choices {
  kind: LogKind;
  since?: string;
  search?: string;
  limit: number;
  follow?: boolean;
  json?: boolean;
}

async function showLog(name: string, choices: Choices, command: Command): Promise<void> {
  const { kind, since, search, limit, follow = false, json = false } = choices;
  const filter: LogFilter = {
    ...(since === undefined ? {} : { from: parseSince(since, systemClock) }),
    ...(search === undefined ? {} : { search }),
  };
  const print = (entries: readonly LogEntries[LogKind][]) => {
    for (const entry of entries) process.stdout.write(`${textOf(kind, entry, json)}\n`);
  };
  await withPlatform(command, async (_platform, { logs }) => {
    const { entries, end } = await newest(logs, name, kind, filter, limit);
    print(entries);
    if (!follow) return;
    const stopping = new AbortController();
    process.once('SIGINT', () => stopping.abort());
    for (let cursor = end; !stopping.signal.aborted; ) {
      const page = { cursor, limit: LOG_PAGE, direction: 'newer' as const };
      const next = await logs.readAsOperator(name, kind, filter, page);
      print(next.results);
      const hasMoved = next.next_cursor !== cursor;
      cursor = next.next_cursor ?? cursor;
      if (hasMoved && cursor !== next.follow_cursor) continue;
      await wait(FOLLOW_PAUSE_MS, undefined, { signal: stopping.signal }).catch(() => {});
    }
  });
}

/** The newest entries, oldest first, and where to follow the log from. */
async function newest<Kind extends LogKind>(
  logs: Pick<LogService, 'readAsOperator'>,
  name: string,
  kind: Kind,
  filter: LogFilter,
  limit: number,
) {
  const first = await logs.readAsOperator(name, kind, filter, {
    cursor: null,
    limit: Math.min(limit, LOG_PAGE),
    direction: 'older',
  });
  const entries = first.results;
  for (let cursor = first.next_cursor; cursor !== null && entries.length < limit; ) {
    const page = { cursor, limit: Math.min(limit - entries.length, LOG_PAGE), direction: 'older' as const };
    const next = await logs.readAsOperator(name, kind, filter, page);
    entries.push(...next.results);
    cursor = next.next_cursor;
  }
  return { entries: entries.toReversed(), end: first.follow_cursor };
}

function textOf(kind: LogKind, entry: LogEntries[LogKind], json: boolean): string {
  return json ? JSON.stringify(entry) : entryText(kind, entry);
}

const UNIT_MS: Record<string, number> = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };

/** The time that `--since` means, in ISO 8601: before now (`30m`, `12h`, `7d`), or a date or time in UTC. Throws OperatorError. */
export function parseSince(text: string, clock: Clock): string {
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const unitMs = UNIT_MS[unit];
  if (unitMs !== undefined) return new Date(clock.now().getTime() - Number(count) * unitMs).toISOString();
  const [, day] =
    /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))?$/.exec(text) ?? [];
  const at = new Date(text);
  // Date.parse takes 30 February for 2 March.
  if (day !== undefined && !Number.isNaN(at.getTime()) && isInCalendar(day)) return at.toISOString();
  throw new OperatorError(
    `--since takes a time before now like 30m, 12h or 7d, or a time like 2030-01-31 or 2030-01-31T12:00:00Z; not "${text}".`,
  );
}

function isInCalendar(day: string): boolean {
  const parsed = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(day);
}

function limitArgument(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw new InvalidArgumentError('It must be a whole number from 1 to 999999.');
  return Number(text);
}

function searchArgument(text: string): string {
  if (text === '' || text.length > LONGEST_SEARCH || /\p{Cc}/u.test(text)) {
    throw new InvalidArgumentError(
      `It must have 1 to ${LONGEST_SEARCH} characters, without control characters.`,
    );
  }
  return text;
}
