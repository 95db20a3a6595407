import { useState } from 'react';
import type { Install } from '../../../api/installs.ts';
import { type Incident, type Uptime, useIncidents, useUptime } from '../../../api/uptime.ts';
import { Button } from '../../../components/button.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Badge } from '../../../components/notice.tsx';
import { Empty, Section } from '../../../components/page.tsx';
import { Time } from '../../../components/time.tsx';
import styles from './uptime.module.css';
import {
  barsSentence,
  daySentence,
  formatDay,
  formatDuration,
  formatPercentage,
  levelOf,
  stateOf,
} from './uptime-words.ts';

const PERIODS = [
  ['last_24_hours', '24 hours'],
  ['last_7_days', '7 days'],
  ['last_30_days', '30 days'],
  ['last_90_days', '90 days'],
] as const;

const FEW = 5;
/** The most incidents that the API gives at once. */
const MANY = 100;

/** Whether the website answers, how often it did, and when it did not. */
export function UptimeSection({ install }: { install: Install }) {
  const uptime = useUptime(install.id);
  return (
    <Section title="Uptime">
      <Loaded query={uptime} what="the uptime">
        {(found) =>
          found.checked_at === null ? (
            <NeverChecked {...found} />
          ) : (
            <Checked {...found} installId={install.id} />
          )
        }
      </Loaded>
    </Section>
  );
}

function NeverChecked({ monitored, reason }: Uptime) {
  return (
    <Empty>
      {monitored
        ? 'Not checked yet. Homeport asks the home page every minute; the first result appears here soon.'
        : `The website is not checked. ${reason ?? ''}`}
    </Empty>
  );
}

function Checked(uptime: Uptime & { installId: string }) {
  const { percentages, days, installId } = uptime;
  return (
    <>
      <State {...uptime} />
      <dl className={styles.periods}>
        {PERIODS.map(([period, title]) => (
          <div key={period}>
            <dt>{title}</dt>
            <dd>{formatPercentage(percentages[period])}</dd>
          </div>
        ))}
      </dl>
      <div className={styles.bars} role="img" aria-label={barsSentence(days)}>
        {days.map((day) => (
          <span key={day.date} className={styles.bar} data-level={levelOf(day)} title={daySentence(day)} />
        ))}
      </div>
      <p className={styles.ends} aria-hidden="true">
        <span>{formatDay(days[0]?.date ?? '')}</span>
        <span>Today</span>
      </p>
      <Incidents installId={installId} />
    </>
  );
}

function State(uptime: Uptime) {
  const { state, since, monitored, reason, incident } = uptime;
  const { word, tone } = stateOf(uptime);
  return (
    <div className={styles.summary}>
      <Badge tone={tone}>{word}</Badge>
      {!monitored ? (
        <span>Not checked any more. {reason}</span>
      ) : (
        since !== null && (
          <span>
            {state === 'unknown' ? 'Last checked ' : 'Since '}
            <Time at={since} exact />
            {incident !== null && state === 'down' && `: ${incident.message}`}
          </span>
        )
      )}
    </div>
  );
}

function Incidents({ installId }: { installId: string }) {
  const [limit, setLimit] = useState(FEW);
  const incidents = useIncidents(installId, limit);
  return (
    <Loaded query={incidents} what="the incidents">
      {({ results, count }) =>
        count === 0 ? (
          <p className={styles.when}>No incidents in the last 90 days.</p>
        ) : (
          <>
            <ul className={styles.incidents} aria-label="Incidents">
              {results.map((incident) => (
                <IncidentItem key={incident.id} {...incident} />
              ))}
            </ul>
            {count > results.length && limit === FEW && (
              <Button small onClick={() => setLimit(MANY)}>
                {count > MANY ? `Show the latest ${MANY} of ${count}` : `Show all ${count}`}
              </Button>
            )}
          </>
        )
      }
    </Loaded>
  );
}

function IncidentItem({ message, php_error, started_at, ended_at, duration_seconds }: Incident) {
  return (
    <li>
      <span>{message}</span>
      {php_error !== null && <code className={styles.error}>{php_error}</code>}
      <span className={styles.when}>
        <Time at={started_at} exact />
        {ended_at === null ? ', not over yet' : `, for ${formatDuration(duration_seconds)}`}
      </span>
    </li>
  );
}
