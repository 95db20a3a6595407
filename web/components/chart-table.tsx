import styles from './chart.module.css';
import type { ChartDay } from './chart-shapes.ts';

/** The table behind a chart, newest day first. */
export function DayTable({
  title,
  days,
  format,
}: {
  title: string;
  days: readonly ChartDay[];
  format(value: number): string;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section className={styles.rows} aria-label={`${title} by day`} tabIndex={0}>
      <table className={styles.table}>
        <caption className="visually-hidden">{title} by day</caption>
        <thead>
          <tr>
            <th scope="col">Day (UTC)</th>
            <th scope="col">{title}</th>
          </tr>
        </thead>
        <tbody>
          {days.toReversed().map(({ date, value }) => (
            <tr key={date}>
              <th scope="row">{date}</th>
              <td>{value === null ? '–' : format(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
