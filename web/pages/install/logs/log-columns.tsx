import type { AccessEntry, CronEntry, LogEntries, LogKind, MailEntry, PhpEntry } from '../../../api/logs.ts';
import { Badge, type Tone } from '../../../components/notice.tsx';
import type { Column } from '../../../components/table.tsx';
import styles from './logs.module.css';

/** An entry with a key for its row. */
export interface Row<Entry> {
  key: string;
  entry: Entry;
}

const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' });
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

function timeColumn<Entry extends { time: string }>(): Column<Row<Entry>> {
  return {
    id: 'time',
    header: 'Time',
    rowHeader: true,
    cell: ({ entry: { time } }) => (
      <time dateTime={time} title={time} className={styles.time}>
        {clock.format(new Date(time))}
        <div className={styles.soft}>{day.format(new Date(time))}</div>
      </time>
    ),
  };
}

function statusTone(status: number): Tone {
  if (status >= 500 || status === 0) return 'bad';
  return status >= 400 ? 'busy' : 'plain';
}

const seconds = (value: number | null) => (value === null ? '–' : `${value.toFixed(2)} s`);

const ACCESS: Column<Row<AccessEntry>>[] = [
  timeColumn(),
  {
    id: 'status',
    header: 'Status',
    cell: ({ entry: { status } }) => (
      <Badge tone={statusTone(status)}>{status === 0 ? 'left' : String(status)}</Badge>
    ),
  },
  {
    id: 'request',
    header: 'Request',
    cell: ({ entry: { method, scheme, host, path, referrer } }) => (
      <div className={styles.text}>
        {method} {path}
        <div className={styles.clamped}>
          {`${scheme}://${host}`}
          {referrer !== '' && `, from ${referrer}`}
        </div>
      </div>
    ),
  },
  {
    id: 'seconds',
    header: 'Time taken',
    cell: ({ entry }) => (
      <span className={styles.figures}>
        {seconds(entry.seconds)}
        {entry.php_seconds !== null && <div className={styles.soft}>PHP {seconds(entry.php_seconds)}</div>}
      </span>
    ),
  },
  { id: 'cache', header: 'Cache', cell: ({ entry }) => entry.cache ?? '–' },
  {
    id: 'visitor',
    header: 'Visitor',
    cell: ({ entry: { address, user_agent } }) => (
      <div className={styles.text}>
        {address}
        <div className={styles.clamped} title={user_agent}>
          {user_agent}
        </div>
      </div>
    ),
  },
];

const LEVELS: Record<PhpEntry['level'], { label: string; tone: Tone }> = {
  error: { label: 'Error', tone: 'bad' },
  warning: { label: 'Warning', tone: 'busy' },
  notice: { label: 'Notice', tone: 'plain' },
  deprecated: { label: 'Deprecated', tone: 'plain' },
  message: { label: 'Message', tone: 'plain' },
};

const PHP: Column<Row<PhpEntry>>[] = [
  timeColumn(),
  {
    id: 'level',
    header: 'Level',
    cell: ({ entry: { level } }) => <Badge tone={LEVELS[level].tone}>{LEVELS[level].label}</Badge>,
  },
  {
    id: 'message',
    header: 'Message',
    cell: ({ entry: { message } }) => <div className={styles.lines}>{message}</div>,
  },
];

const CRON: Column<Row<CronEntry>>[] = [
  timeColumn(),
  {
    id: 'result',
    header: 'Result',
    cell: ({ entry: { exit } }) => {
      if (exit === 0) return <Badge tone="good">Done</Badge>;
      return <Badge tone="bad">{exit === null ? 'Took too long' : `Failed (${exit})`}</Badge>;
    },
  },
  { id: 'seconds', header: 'Time taken', cell: ({ entry }) => seconds(entry.seconds) },
  {
    id: 'output',
    header: 'Output',
    cell: ({ entry: { output } }) => (output === '' ? '–' : <div className={styles.lines}>{output}</div>),
  },
];

const EVENTS: Record<MailEntry['event'], { label: string; tone: Tone }> = {
  queued: { label: 'Queued', tone: 'plain' },
  sent: { label: 'Sent', tone: 'good' },
  deferred: { label: 'Deferred', tone: 'busy' },
  failed: { label: 'Failed', tone: 'bad' },
  refused: { label: 'Refused', tone: 'bad' },
};

const MAIL: Column<Row<MailEntry>>[] = [
  timeColumn(),
  {
    id: 'event',
    header: 'State',
    cell: ({ entry: { event } }) => <Badge tone={EVENTS[event].tone}>{EVENTS[event].label}</Badge>,
  },
  {
    id: 'recipients',
    header: 'To',
    cell: ({ entry: { recipients, recipient_count, sender } }) => (
      <div className={styles.text}>
        {recipients.join(', ')}
        {recipient_count > recipients.length && ` and ${recipient_count - recipients.length} others`}
        <div className={styles.soft}>from {sender}</div>
      </div>
    ),
  },
  {
    id: 'reason',
    header: 'Answer',
    cell: ({ entry: { reason } }) => <div className={styles.text}>{reason ?? '–'}</div>,
  },
];

/** The columns of each log. */
export const COLUMNS: { [Kind in LogKind]: Column<Row<LogEntries[Kind]>>[] } = {
  access: ACCESS,
  php: PHP,
  cron: CRON,
  mail: MAIL,
};
