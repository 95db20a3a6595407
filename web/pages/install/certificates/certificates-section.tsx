import { useState } from 'react';
import { useCertificates } from '../../../api/certificates.ts';
import { useDomainStates, useDomains } from '../../../api/domains.ts';
import type { Install } from '../../../api/installs.ts';
import { useOperations } from '../../../api/operations.ts';
import { Button } from '../../../components/button.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Empty, Section } from '../../../components/page.tsx';
import { useMay } from '../../../session/session.ts';
import { SearchedDomains } from '../domains/searched-domains.tsx';
import { CertificateCard } from './certificate-card.tsx';
import { type ListedCertificate, listCertificates } from './listed-certificates.ts';
import { UploadCertificate } from './upload-certificate.tsx';

/** The certificates of an install: list, order and upload. */
export function CertificatesSection({ install }: { install: Install }) {
  const domains = useDomains(install.id);
  const states = useDomainStates(install.id);
  const certificates = useCertificates(install.id);
  const operations = useOperations(install.id).data;
  const mayWork = useMay(install.account.id)('install.work');
  const [uploading, setUploading] = useState(false);
  const card = (listed: ListedCertificate) => (
    <CertificateCard
      key={listed.id}
      install={install}
      listed={listed}
      operations={operations?.results ?? []}
      next={operations?.next.order_certificate ?? null}
      mayWork={mayWork}
      onUpload={() => setUploading(true)}
    />
  );
  return (
    <Section
      title="Certificates"
      actions={
        mayWork &&
        install.status === 'active' && (
          <Button variant="primary" onClick={() => setUploading(true)}>
            Upload certificate
          </Button>
        )
      }
    >
      <p>
        Homeport orders and renews a certificate for each domain that points here. You can also upload your
        own.
      </p>
      <Loaded query={domains} what="domains">
        {(all) => (
          <Loaded query={states} what="domains">
            {(details) => (
              <Loaded query={certificates} what="certificates">
                {(found) => (
                  <SearchedDomains
                    items={listCertificates(all, details, found)}
                    namesOf={(listed) => listed.domains.map(({ domain }) => domain.name)}
                    empty={<Empty>This install has no domains yet.</Empty>}
                  >
                    {card}
                  </SearchedDomains>
                )}
              </Loaded>
            )}
          </Loaded>
        )}
      </Loaded>
      <UploadCertificate open={uploading} onOpenChange={setUploading} installId={install.id} />
    </Section>
  );
}
