import { Link } from 'wouter';
import { useInstall } from '../../api/installs.ts';
import { Loaded } from '../../components/loaded.tsx';
import { isNotFound, NotFound } from '../../components/not-found.tsx';
import { Empty, Page } from '../../components/page.tsx';
import { useQueryParameters } from '../../components/query-parameters.ts';
import { useMay } from '../../session/session.ts';
import { PlanSite } from './plan-site.tsx';
import { SiteDomain } from './site-domain.tsx';
import { SiteDone } from './site-done.tsx';
import { Steps } from './steps.tsx';

/**
 * Creates a site with its first install, step by step. Once the install exists, the address names it, so that the wizard continues after a
 * reload.
 */
export function NewSitePage({ accountId }: { accountId: string }) {
  const may = useMay(accountId);
  const { get, set } = useQueryParameters();
  const installId = get('install');
  const subtitle = <Link href={`/accounts/${accountId}/sites`}>Sites</Link>;
  if (!may('site.change') || !may('install.change')) {
    return (
      <Page title="Create a site" subtitle={subtitle}>
        <Empty>You cannot create sites in this account. Ask an account owner.</Empty>
      </Page>
    );
  }
  return (
    <Page title="Create a site" subtitle={subtitle}>
      {installId === '' ? (
        <PlanSite accountId={accountId} onCreated={(install) => set({ install: install.id })} />
      ) : (
        <CreatedSite
          key={installId}
          installId={installId}
          isDone={get('step') === 'done'}
          onDone={() => set({ step: 'done' })}
        />
      )}
    </Page>
  );
}

function CreatedSite({ installId, isDone, onDone }: { installId: string; isDone: boolean; onDone(): void }) {
  const query = useInstall(installId);
  if (isNotFound(query.error)) return <NotFound what="Install" />;
  return (
    <Loaded query={query} what="the install">
      {(install) => (
        <>
          <Steps current={isDone ? 'Done' : 'Domain'} />
          {isDone ? <SiteDone install={install} /> : <SiteDomain install={install} onDone={onDone} />}
        </>
      )}
    </Loaded>
  );
}
