import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { hosting } from '../../../api/client.ts';
import type { Domain } from '../../../api/domains.ts';
import { unwrapEmpty } from '../../../api/failure.ts';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/dialog.tsx';
import { displayName } from '../../../components/display-name.ts';
import { useSecondsUntil } from '../../../components/time.tsx';
import { showFailure } from '../../../components/toast.tsx';
import { reloadDomains } from '../domains/change-domain.ts';

/** Version 1.17 of the API requires contact data. The server does not read it. */
const NO_CONTACT = { email_address: '', given_name: '', family_name: '', region_code: '' };

/** Orders a certificate for a domain now. If it replaces an uploaded one, the user confirms by typing the name. */
export function OrderCertificate({
  installId,
  domain,
  next,
  pending,
  replacesUpload,
}: {
  installId: string;
  domain: Domain;
  /** When the next order of the install is allowed; null for now. */
  next: string | null;
  /** Whether an order is in progress. */
  pending: boolean;
  replacesUpload: boolean;
}) {
  const queries = useQueryClient();
  const seconds = useSecondsUntil(next);
  const [asking, setAsking] = useState(false);
  const name = displayName(domain.name);

  async function order() {
    try {
      await unwrapEmpty(
        hosting.POST('/installs/{install_id}/domains/{domain_id}/ssl_certificate', {
          params: { path: { install_id: installId, domain_id: domain.id } },
          body: NO_CONTACT,
        }),
      );
    } finally {
      // Loads the operation and the time of the next allowed order.
      await reloadDomains(queries, installId);
    }
  }

  const orderNow = useMutation({ mutationFn: order, onError: showFailure });
  const label = seconds > 0 ? `Order in ${seconds} s` : 'Order now';
  return (
    <>
      <Button
        small
        pending={orderNow.isPending || pending}
        disabled={seconds > 0}
        aria-label={`${label}: ${name}`}
        onClick={() => (replacesUpload ? setAsking(true) : orderNow.mutate())}
      >
        {label}
      </Button>
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title={`Replace the uploaded certificate of ${name}`}
        description={
          <p>
            Homeport orders an automatic certificate. Once it is issued, {name} no longer uses the uploaded
            certificate. Its private key is deleted if no other domain uses it. To go back, upload the
            certificate again.
          </p>
        }
        name={domain.name}
        confirmLabel="Order and replace"
        onConfirm={order}
      />
    </>
  );
}
