import { useState } from 'react';
import { type Domain, useDomainStates, useDomains } from '../../../api/domains.ts';
import type { Install } from '../../../api/installs.ts';
import { useOperations } from '../../../api/operations.ts';
import { Button } from '../../../components/button.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Section } from '../../../components/page.tsx';
import { useMay } from '../../../session/session.ts';
import { AddDomains } from './add-domains.tsx';
import { CheckAll } from './check-all.tsx';
import { DomainCard } from './domain-card.tsx';
import { twinOf } from './new-names.ts';
import { SearchedDomains } from './searched-domains.tsx';

/** The domains of an install. */
export function DomainsSection({ install }: { install: Install }) {
  const domains = useDomains(install.id);
  const states = useDomainStates(install.id);
  const operations = useOperations(install.id);
  const mayWork = useMay(install.account.id)('install.work');
  const [adding, setAdding] = useState(false);
  return (
    <Section
      title="Domains"
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
        {(all) => {
          const stateOf = (domain: Domain | undefined) =>
            states.data?.find(({ domain_id }) => domain_id === domain?.id);
          return (
            <>
              <AddDomains open={adding} onOpenChange={setAdding} installId={install.id} present={all} />
              <SearchedDomains items={all} namesOf={({ name }) => [name]}>
                {(domain) => (
                  <DomainCard
                    key={domain.id}
                    install={install}
                    domain={domain}
                    all={all}
                    state={stateOf(domain)}
                    twinState={stateOf(all.find(({ name }) => name === twinOf(domain.name)))}
                    nextCheck={operations.data?.next.check_status ?? null}
                    nextVerification={operations.data?.next.verify_domain ?? null}
                    mayWork={mayWork}
                  />
                )}
              </SearchedDomains>
            </>
          );
        }}
      </Loaded>
    </Section>
  );
}
