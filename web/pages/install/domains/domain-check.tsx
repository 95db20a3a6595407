import { useMutation, useQueryClient } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { hosting } from '../../../api/client.ts';
import {
  type Domain,
  type DomainCheck,
  type DomainState,
  type Report,
  useReport,
} from '../../../api/domains.ts';
import { unwrap } from '../../../api/failure.ts';
import { Button } from '../../../components/button.tsx';
import { displayName } from '../../../components/display-name.ts';
import { Badge, ProgressBar } from '../../../components/notice.tsx';
import { Time, useSecondsUntil } from '../../../components/time.tsx';
import { showFailure } from '../../../components/toast.tsx';
import { reloadDomains } from './change-domain.ts';
import styles from './domains.module.css';
import { checkLabel } from './report-labels.ts';

const ReportDetails = lazy(async () => ({ default: (await import('./report-details.tsx')).ReportDetails }));

/** The last status report of a domain, and a button that requests a new one. */
export function DomainCheckPanel({
  installId,
  domain,
  state,
  reportId,
  checkedAt,
  next,
  mayWork,
  children,
}: {
  installId: string;
  domain: Domain;
  /** Undefined until loaded. */
  state: DomainState | undefined;
  reportId: string | null;
  checkedAt: string | null;
  /** When the next check is allowed; null for now. */
  next: string | null;
  mayWork: boolean;
  /** Other actions, shown beside the button. */
  children: ReactNode;
}) {
  const report = useReport(installId, reportId).data ?? null;
  const isPending = report?.complete === false;
  return (
    <div>
      {mayWork && (
        <div className={styles.row}>
          <CheckButton installId={installId} domain={domain} next={next} pending={isPending} />
          {children}
        </div>
      )}
      {checkedAt !== null && !isPending && (
        <p className={styles.checked}>
          Last checked <Time at={checkedAt} />
        </p>
      )}
      <div aria-live="polite" className={styles.live}>
        {report && <ShownReport report={report} domain={domain} state={state} />}
      </div>
    </div>
  );
}

function CheckButton({
  installId,
  domain,
  next,
  pending,
}: {
  installId: string;
  domain: Domain;
  next: string | null;
  pending: boolean;
}) {
  const queries = useQueryClient();
  const seconds = useSecondsUntil(next);

  const check = useMutation({
    mutationFn: () =>
      unwrap(
        hosting.POST('/installs/{install_id}/domains/{domain_id}/check_status', {
          params: { path: { install_id: installId, domain_id: domain.id } },
        }),
      ),
    onError: showFailure,
    // Loads the new report's ID and the time of the next allowed check.
    onSettled: () => reloadDomains(queries, installId),
  });

  // The countdown is on the button, so that the layout stays stable.
  const label = seconds > 0 ? `Check in ${seconds} s` : 'Check now';
  return (
    <span className={styles.check}>
      <Button
        small
        pending={check.isPending || pending}
        disabled={seconds > 0}
        aria-label={`${label}: ${displayName(domain.name)}`}
        onClick={() => check.mutate()}
      >
        {label}
      </Button>
    </span>
  );
}

interface CheckedDomain {
  domain: Domain;
  state: DomainState | undefined;
}

/** The part of a report about this domain. The www twin shows the other part. */
function ShownReport({ report, domain, state }: CheckedDomain & { report: Report }) {
  const check = report.domains.find(({ name }) => name === domain.name);
  return (
    <>
      {!report.complete && <ProgressBar label={`Checking ${displayName(domain.name)}`} />}
      {check && <CheckResult check={check} domain={domain} state={state} />}
    </>
  );
}

/** The result of a check, with expandable details. */
function CheckResult({ check, domain, state }: CheckedDomain & { check: DomainCheck }) {
  const [open, setOpen] = useState(false);
  const { word, tone } = checkLabel(check, domain, state);
  return (
    <div className={styles.stack}>
      <p>
        <Badge tone={tone}>{word}</Badge> {check.result}
      </p>
      <details className={styles.details} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          Details<span className="visually-hidden"> of {displayName(check.name)}</span>
        </summary>
        {open && (
          <Suspense fallback={<ProgressBar label="Loading details" />}>
            <ReportDetails check={check} />
          </Suspense>
        )}
      </details>
    </div>
  );
}
