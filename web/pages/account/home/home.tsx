import { Suspense } from 'react';
import { Link } from 'wouter';
import { useRunningOperations } from '../../../api/operations.ts';
import { useAttentionList, useOnboarding } from '../../../api/overview.ts';
import { ButtonLink } from '../../../components/button.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Badge } from '../../../components/notice.tsx';
import { onDemand } from '../../../components/on-demand.ts';
import { Page, Section } from '../../../components/page.tsx';
import { ListSkeleton } from '../../../components/skeleton.tsx';
import { useAccount, useMay } from '../../../session/session.ts';
import { Reasons } from '../attention.tsx';
import { LimitNotice } from '../limit-notice.tsx';
import { ATTENTION } from '../search.ts';
import { ThisMonth } from '../this-month.tsx';
import { TransferNotice } from '../transfer-notice.tsx';
import styles from './home.module.css';
import { areStepsHidden, OnboardingChecklist } from './onboarding-checklist.tsx';
import { RunningOperations } from './running-operations.tsx';

const AccountHistory = onDemand(
  () => import('./account-history.tsx'),
  (module) => module.AccountHistory,
);

/** The first page of an account: first steps, what needs attention, what runs, the usage and the newest changes. */
export function HomePage({ accountId }: { accountId: string }) {
  const account = useAccount(accountId);
  const may = useMay(accountId);
  return (
    <Page
      title="Home"
      subtitle={account?.name}
      actions={<ButtonLink href={`/accounts/${accountId}/sites`}>All sites</ButtonLink>}
    >
      <LimitNotice accountId={accountId} />
      <TransferNotice accountId={accountId} />
      <Sections accountId={accountId} hasSteps={may('site.change')} />
    </Page>
  );
}

/** The sections appear together, because each that came later would move the others. */
function Sections({ accountId, hasSteps }: { accountId: string; hasSteps: boolean }) {
  const steps = useOnboarding(accountId, hasSteps && !areStepsHidden(accountId));
  const attention = useAttentionList(accountId, MOST_SHOWN);
  const operations = useRunningOperations(accountId);
  if (steps.isLoading || attention.isLoading || operations.isLoading) {
    return <ListSkeleton label="Loading the account" />;
  }
  return (
    <>
      {hasSteps && <OnboardingChecklist accountId={accountId} />}
      <NeedsAttention accountId={accountId} />
      <RunningOperations accountId={accountId} />
      <ThisMonth accountId={accountId} />
      <Suspense fallback={null}>
        <AccountHistory accountId={accountId} />
      </Suspense>
    </>
  );
}

/** Number of installs listed here. The list of installs shows all. */
const MOST_SHOWN = 10;

function NeedsAttention({ accountId }: { accountId: string }) {
  const attention = useAttentionList(accountId, MOST_SHOWN);
  return (
    <Section title="Needs attention">
      <Loaded query={attention} what="what needs attention">
        {({ count, results }) =>
          count === 0 ? (
            <Badge tone="good">Nothing needs attention.</Badge>
          ) : (
            <>
              <ul className={styles.list}>
                {results.map(({ install_id, install_name, reasons }) => (
                  <li key={install_id} className={styles.item}>
                    <Link href={`/installs/${install_id}`} className={styles.name}>
                      {install_name}
                    </Link>
                    <Reasons installId={install_id} reasons={reasons} />
                  </li>
                ))}
              </ul>
              {count > results.length && (
                <div>
                  <ButtonLink small href={`/accounts/${accountId}/installs?status=${ATTENTION}`}>
                    Show all {count}
                  </ButtonLink>
                </div>
              )}
            </>
          )
        }
      </Loaded>
    </Section>
  );
}
