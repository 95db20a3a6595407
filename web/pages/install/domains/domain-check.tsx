import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { hosting } from '../../../api/client.ts';
import { answered } from '../../../api/failure.ts';
import { Button } from '../../../components/button.tsx';
import { Badge, ProgressBar } from '../../../components/notice.tsx';
import { Time, useSecondsUntil } from '../../../components/time.tsx';
import { sayFailure } from '../../../components/toast.tsx';
import { type Domain, type DomainCheck, type DomainState, type Report, useReport } from '../queries.ts';
import styles from './domains.module.css';
import { checkWord, inOrder } from './report-words.ts';

const ReportDetails = lazy(async () => ({ default: (await import('./report-details.tsx')).ReportDetails }));

/** The last status report of a domain, and the button for a new one. */
export function DomainCheckPanel({
  installId,
  domain,
  all,
  state,
  next,
  mayWork,
}: {
  installId: string;
  domain: Domain;
  all: Domain[];
  state: DomainState | undefined;
  /** When the install may be asked again; null: now. */
  next: string | null;
  mayWork: boolean;
}) {
  const queries = useQueryClient();
  const [requested, setRequested] = useState<string | null>(null);
  const [pending, setPending] = useState(false);
  const seconds = useSecondsUntil(next);
  const reportId = requested ?? state?.report_id ?? null;
  const report = useReport(installId, reportId).data ?? null;
  const isBeingMade = reportId !== null && report?.complete === false;

  async function check() {
    setPending(true);
    try {
      const { report_id } = await answered(
        hosting.POST('/installs/{install_id}/domains/{domain_id}/check_status', {
          params: { path: { install_id: installId, domain_id: domain.id } },
        }),
      );
      setRequested(report_id);
    } catch (error) {
      sayFailure(error);
    } finally {
      setPending(false);
      await queries.invalidateQueries({ queryKey: ['operation', installId] });
    }
  }

  return (
    <div className={styles.stack}>
      <div className={styles.row}>
        {mayWork && (
          <Button
            small
            pending={pending || isBeingMade}
            disabled={seconds > 0}
            aria-label={`Check now: ${domain.name}`}
            onClick={check}
          >
            Check now
          </Button>
        )}
        {mayWork && seconds > 0 && !isBeingMade && (
          <span className={styles.soft}>You can check again in {seconds} s.</span>
        )}
        {state?.checked_at && !isBeingMade && (
          <span className={styles.soft}>
            Last checked <Time at={state.checked_at} />
          </span>
        )}
      </div>
      <div aria-live="polite" className={styles.stack}>
        {report && <ShownReport report={report} name={domain.name} all={all} />}
      </div>
    </div>
  );
}

function ShownReport({ report, name, all }: { report: Report; name: string; all: Domain[] }) {
  return (
    <>
      {!report.complete && <ProgressBar label={`${name} is being checked`} />}
      {inOrder(report.domains, name).map((check) => (
        <CheckResult
          key={check.name}
          check={check}
          domain={all.find((candidate) => candidate.name === check.name)}
        />
      ))}
    </>
  );
}

/** The sentence first; what it rests on behind a press. */
function CheckResult({ check, domain }: { check: DomainCheck; domain: Domain | undefined }) {
  const [open, setOpen] = useState(false);
  const { word, tone } = checkWord(check, domain);
  return (
    <div className={styles.stack}>
      <p>
        <Badge tone={tone}>{word}</Badge> {check.result}
      </p>
      <details className={styles.details} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          What was seen<span className="visually-hidden"> of {check.name}</span>
        </summary>
        {open && (
          <Suspense fallback={<ProgressBar label="Loading what was seen" />}>
            <ReportDetails check={check} />
          </Suspense>
        )}
      </details>
    </div>
  );
}
