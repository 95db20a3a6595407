import { useState } from 'react';
import { useCertificates } from '../../../api/certificates.ts';
import { useDomainStates, useDomains } from '../../../api/domains.ts';
import type { Install } from '../../../api/installs.ts';
import { useOperations } from '../../../api/operations.ts';
import { Button } from '../../../components/button.tsx';
import { displayName } from '../../../components/display-name.ts';
import { Loaded } from '../../../components/loaded.tsx';
import { Empty, MainSection } from '../../../components/page.tsx';
import { useQueryParameters } from '../../../components/query-parameters.ts';
import { useRowSearch } from '../../../components/row-search.tsx';
import { TableTools } from '../../../components/table.tsx';
import { useNow } from '../../../components/time.tsx';
import { useMay } from '../../../session/session.ts';
import { CertificateDrawer } from './certificate-drawer.tsx';
import { showsNoAuthority } from './certificate-sentences.ts';
import { CertificateTable, SHOWN_CERTIFICATE, type ShownCertificate } from './certificate-table.tsx';
import { type ListedCertificate, listCertificates, shownOrder } from './listed-certificates.ts';
import { UploadCertificate } from './upload-certificate.tsx';

const EVERY_MINUTE_MS = 60_000;

/** The certificates of an install: list, order and upload. */
export function CertificatesSection({ install }: { install: Install }) {
  const domains = useDomains(install.id);
  const states = useDomainStates(install.id);
  const certificates = useCertificates(install.id);
  const mayWork = useMay(install.account.id)('install.work');
  const [uploading, setUploading] = useState(false);
  return (
    <MainSection
      actions={
        mayWork &&
        install.status === 'active' && (
          <Button variant="primary" onClick={() => setUploading(true)}>
            Upload certificate
          </Button>
        )
      }
    >
      <Loaded query={domains} what="domains">
        {(all) => (
          <Loaded query={states} what="domains">
            {(details) => (
              <Loaded query={certificates} what="certificates">
                {(found) => (
                  <CertificateList
                    install={install}
                    listed={listCertificates(all, details, found)}
                    mayWork={mayWork}
                  />
                )}
              </Loaded>
            )}
          </Loaded>
        )}
      </Loaded>
      <UploadCertificate open={uploading} onOpenChange={setUploading} installId={install.id} />
    </MainSection>
  );
}

function CertificateList({
  install,
  listed,
  mayWork,
}: {
  install: Install;
  listed: ListedCertificate[];
  mayWork: boolean;
}) {
  const { get, set } = useQueryParameters();
  const operations = useOperations(install.id).data;
  const now = useNow(EVERY_MINUTE_MS);
  const hasAuthority = !listed.some(({ domains }) => domains.some(showsNoAuthority));
  const all = listed.map(
    (one): ShownCertificate => ({
      listed: one,
      orders: one.domains.map(({ domain }) =>
        shownOrder(operations?.results ?? [], domain.id, one.certificate, now),
      ),
    }),
  );
  const { found, field, nothing } = useRowSearch(all, 'domains', (one) =>
    one.listed.domains.map(({ domain }) => displayName(domain.name)),
  );
  const shown = all.find((one) =>
    one.listed.domains.some(({ domain }) => domain.id === get(SHOWN_CERTIFICATE)),
  );
  if (listed.length === 0) return <Empty>This install has no domains yet.</Empty>;
  return (
    <>
      <p>
        {hasAuthority
          ? 'Homeport orders and renews a certificate for each domain that points here. You can also upload your own.'
          : 'Your provider has no certificate authority, so Homeport cannot order certificates. You can upload your own.'}
      </p>
      {field && <TableTools>{field}</TableTools>}
      {nothing}
      {found.length > 0 && <CertificateTable certificates={found} />}
      {shown && (
        <CertificateDrawer
          {...shown}
          install={install}
          next={operations?.next.order_certificate ?? null}
          mayWork={mayWork}
          hasAuthority={hasAuthority}
          onClose={() => set({ [SHOWN_CERTIFICATE]: '' })}
        />
      )}
    </>
  );
}
