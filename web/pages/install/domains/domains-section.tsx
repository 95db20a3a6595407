import { useState } from 'react';
import { type Domain, type DomainState, useDomainStates, useDomains } from '../../../api/domains.ts';
import type { Install } from '../../../api/installs.ts';
import { useOperations } from '../../../api/operations.ts';
import { Button } from '../../../components/button.tsx';
import { displayName } from '../../../components/display-name.ts';
import { Loaded } from '../../../components/loaded.tsx';
import { MainSection } from '../../../components/page.tsx';
import { useQueryParameters } from '../../../components/query-parameters.ts';
import { useRowSearch } from '../../../components/row-search.tsx';
import { TableTools } from '../../../components/table.tsx';
import { useMay } from '../../../session/session.ts';
import { AddDomains } from './add-domains.tsx';
import { CheckAll } from './check-all.tsx';
import { DomainDrawer, type ListedDomain } from './domain-drawer.tsx';
import { DomainTable, SHOWN_DOMAIN } from './domain-table.tsx';
import { twinOf } from './new-names.ts';

/** The domains of an install. */
export function DomainsSection({ install }: { install: Install }) {
  const domains = useDomains(install.id);
  const states = useDomainStates(install.id);
  const operations = useOperations(install.id);
  const mayWork = useMay(install.account.id)('install.work');
  const [adding, setAdding] = useState(false);
  const { set } = useQueryParameters();
  return (
    <MainSection
      actions={
        mayWork && (
          <>
            {(domains.data?.length ?? 0) > 1 && (
              <CheckAll installId={install.id} next={operations.data?.next.check_status ?? null} />
            )}
            <Button variant="primary" onClick={() => setAdding(true)}>
              Add domains
            </Button>
          </>
        )
      }
    >
      <Loaded query={domains} what="domains">
        {(all) => (
          <>
            <AddDomains
              open={adding}
              onOpenChange={setAdding}
              installId={install.id}
              present={all}
              onOneAdded={(id) => set({ [SHOWN_DOMAIN]: id })}
            />
            <DomainList install={install} all={all} states={states.data ?? []} mayWork={mayWork} />
          </>
        )}
      </Loaded>
    </MainSection>
  );
}

function DomainList({
  install,
  all,
  states,
  mayWork,
}: {
  install: Install;
  all: Domain[];
  states: readonly DomainState[];
  mayWork: boolean;
}) {
  const { get, set } = useQueryParameters();
  const next = useOperations(install.id).data?.next;
  const stateOf = (domain: Domain | undefined) => states.find(({ domain_id }) => domain_id === domain?.id);
  const listed = all.map(
    (domain): ListedDomain => ({
      install,
      domain,
      all,
      state: stateOf(domain),
      twinState: stateOf(all.find(({ name }) => name === twinOf(domain.name))),
    }),
  );
  const { found, field, nothing } = useRowSearch(listed, 'domains', ({ domain }) => [
    displayName(domain.name),
  ]);
  const shown = listed.find(({ domain }) => domain.id === get(SHOWN_DOMAIN));
  return (
    <>
      {field && <TableTools>{field}</TableTools>}
      {nothing}
      {found.length > 0 && <DomainTable domains={found} mayWork={mayWork} />}
      {shown && (
        <DomainDrawer
          key={shown.domain.id}
          {...shown}
          nextCheck={next?.check_status ?? null}
          nextVerification={next?.verify_domain ?? null}
          mayWork={mayWork}
          onClose={() => set({ [SHOWN_DOMAIN]: '' })}
        />
      )}
    </>
  );
}
