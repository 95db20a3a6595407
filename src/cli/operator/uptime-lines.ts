import { alignedPairs, shownTime, table } from '../terminal/output.ts';

const PERIODS = [
  ['last_24_hours', '24 hours'],
  ['last_7_days', '7 days'],
  ['last_30_days', '30 days'],
  ['last_90_days', '90 days'],
] as const;

/** The uptime of a website for people, with the days on which it was down. */
export function uptimeLines(answer: unknown): string {
  const of = (name: string): unknown => Reflect.get(Object(answer), name);
  const text = (thing: unknown, name: string): string | null => {
    const value: unknown = Reflect.get(Object(thing), name);
    return typeof value === 'string' ? value : null;
  };
  const incident = of('incident');
  const percentages = of('percentages');
  const pairs: [string, string][] = [
    ['state', `${text(answer, 'state')} since ${shownTime(text(answer, 'since'), 'the beginning')}`],
    ['checked', shownTime(text(answer, 'checked_at'), 'never')],
    ...(of('monitored') === false
      ? [['not checked', text(answer, 'reason') ?? ''] satisfies [string, string]]
      : []),
    ...(incident === null ? [] : [['incident', text(incident, 'message') ?? ''] satisfies [string, string]]),
    ...(text(incident, 'php_error') === null
      ? []
      : [['PHP error', text(incident, 'php_error') ?? ''] satisfies [string, string]]),
    ...PERIODS.map(([name, title]): [string, string] => [
      title,
      percent(Reflect.get(Object(percentages), name)),
    ]),
  ];
  const days: unknown = of('days');
  const down = (Array.isArray(days) ? days : []).filter(
    (day: unknown) => Number(Reflect.get(Object(day), 'down_seconds')) > 0,
  );
  if (down.length === 0) return alignedPairs(pairs);
  const rows = down.map((day: unknown) => [
    text(day, 'date') ?? '',
    percent(Reflect.get(Object(day), 'percentage')),
    `${Math.round(Number(Reflect.get(Object(day), 'down_seconds')) / 60)} min`,
  ]);
  return `${alignedPairs(pairs)}\n${table(['DAY', 'UP', 'DOWN'], rows)}`;
}

const percent = (value: unknown): string => (typeof value === 'number' ? `${value} %` : 'unknown');
