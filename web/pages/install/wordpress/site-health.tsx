import type { SiteHealth } from '../../../api/wordpress.ts';
import { Badge, type Tone } from '../../../components/notice.tsx';
import { Empty, Facts, Section } from '../../../components/page.tsx';
import { Time } from '../../../components/time.tsx';
import styles from './wordpress.module.css';

const STATUSES: Record<SiteHealth['status'], { word: string; tone: Tone }> = {
  good: { word: 'Good', tone: 'good' },
  should_be_improved: { word: 'Should be improved', tone: 'busy' },
  unknown: { word: 'Unknown', tone: 'plain' },
};

/** The result of WordPress' Site Health. */
export function SiteHealthSection({ health }: { health: SiteHealth }) {
  const { status, good, recommended, critical, issues, examined_at } = health;
  if (status === 'unknown') {
    return (
      <Section title="Site Health">
        <Empty>WordPress has not examined this website yet. Refresh to let it.</Empty>
      </Section>
    );
  }
  const { word, tone } = STATUSES[status];
  return (
    <Section title="Site Health">
      <Facts
        facts={[
          [
            'Status',
            <Badge key="status" tone={tone}>
              {word}
            </Badge>,
          ],
          ['Passed tests', good],
          ['Recommended improvements', recommended],
          ['Critical issues', critical],
          ...(examined_at === null ? [] : [['Examined', <Time key="at" at={examined_at} />] as const]),
        ]}
      />
      {issues.length > 0 && (
        <ul className={styles.issues} aria-label="Issues">
          {issues.map(({ label, severity }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: plugins may give two issues the same label
            <li key={index}>
              {severity === 'critical' && <Badge tone="bad">Critical</Badge>} {label}
            </li>
          ))}
        </ul>
      )}
      <p className={styles.note}>Tests that request the website itself run in wp-admin only.</p>
    </Section>
  );
}
