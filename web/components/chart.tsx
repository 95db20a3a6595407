import { type PointerEvent, useState } from 'react';
import { Button } from './button.tsx';
import styles from './chart.module.css';
import { areaOf, barsOf, type ChartDay, largestOf, lineOf } from './chart-shapes.ts';
import { DayTable } from './chart-table.tsx';

const dayText = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const textOfDay = (date: string) => dayText.format(new Date(date));

/**
 * One metric by day, as bars (`sum`) or as a line (`average`), with a table behind it. Pointer, finger and arrow keys read single days.
 */
export function Chart({
  title,
  summary,
  kind,
  days,
  format,
  most,
}: {
  title: string;
  /** Shown until the user chooses a day. */
  summary: string;
  kind: 'sum' | 'average';
  days: readonly ChartDay[];
  format(value: number): string;
  /** Upper end of the scale; the largest value by default. */
  most?: number;
}) {
  const [index, setIndex] = useState<number | null>(null);
  const [isTable, setIsTable] = useState(false);
  const chosen = index === null ? undefined : days[index];
  const top = most ?? largestOf(days.map(({ value }) => value));
  const textOf = (day: ChartDay) =>
    `${textOfDay(day.date)}: ${day.value === null ? 'no measurement' : format(day.value)}`;

  return (
    <figure className={styles.chart}>
      <figcaption className={styles.caption}>
        <span className={styles.title}>{title}</span>
        <span className={styles.reading}>{chosen && !isTable ? textOf(chosen) : summary}</span>
        <Button
          small
          variant="quiet"
          aria-label={`${title} as a ${isTable ? 'chart' : 'table'}`}
          onClick={() => setIsTable(!isTable)}
        >
          {isTable ? 'Chart' : 'Table'}
        </Button>
      </figcaption>
      {isTable ? (
        <DayTable title={title} days={days} format={format} />
      ) : (
        <div className={styles.plot}>
          <span className={styles.most}>{format(top)}</span>
          <Shapes kind={kind} values={days.map(({ value }) => value)} top={top} chosen={index} />
          <input
            type="range"
            className={styles.days}
            min={0}
            max={days.length - 1}
            value={index ?? days.length - 1}
            aria-label={`${title}, day`}
            aria-valuetext={textOf(chosen ?? days[days.length - 1] ?? { date: '1970-01-01', value: null })}
            onChange={({ currentTarget }) => setIndex(currentTarget.valueAsNumber)}
            onFocus={() => setIndex(index ?? days.length - 1)}
            onBlur={() => setIndex(null)}
            onPointerMove={(event) => setIndex(dayAt(event, days.length))}
            onPointerLeave={({ currentTarget }) => {
              if (document.activeElement !== currentTarget) setIndex(null);
            }}
          />
          <span className={styles.ends}>
            <span>{textOfDay(days[0]?.date ?? '1970-01-01')}</span>
            <span>{textOfDay(days.at(-1)?.date ?? '1970-01-01')}</span>
          </span>
        </div>
      )}
    </figure>
  );
}

/** The day below the pointer. */
function dayAt({ clientX, currentTarget }: PointerEvent<HTMLInputElement>, count: number): number {
  const { left, width } = currentTarget.getBoundingClientRect();
  return Math.min(count - 1, Math.max(0, Math.floor(((clientX - left) / width) * count)));
}

function Shapes({
  kind,
  values,
  top,
  chosen,
}: {
  kind: 'sum' | 'average';
  values: readonly (number | null)[];
  top: number;
  chosen: number | null;
}) {
  return (
    <svg
      className={styles.shapes}
      viewBox={`0 0 ${values.length} 1`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {chosen !== null && <rect className={styles.chosen} x={chosen} y={0} width={1} height={1} />}
      {kind === 'sum' ? (
        barsOf(values, top).map(({ x, height }) => (
          <rect key={x} className={styles.bar} x={x + 0.15} y={1 - height} width={0.7} height={height} />
        ))
      ) : (
        <>
          <path className={styles.area} d={areaOf(values, top)} />
          <path className={styles.line} d={lineOf(values, top)} />
        </>
      )}
    </svg>
  );
}
