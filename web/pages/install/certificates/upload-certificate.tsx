import { useQueryClient } from '@tanstack/react-query';
import { hosting } from '../../../api/client.ts';
import { ApiFailure, FormError, unwrap } from '../../../api/failure.ts';
import { Dialog } from '../../../components/dialog.tsx';
import { Form, textOf } from '../../../components/form.tsx';
import { showSuccess } from '../../../components/toast.tsx';
import { reloadDomains } from '../domains/change-domain.ts';
import { uploadedSentence } from './certificate-sentences.ts';
import { PemField } from './pem-field.tsx';
import {
  fieldOfError,
  joinChain,
  LONGEST_CHAIN,
  LONGEST_KEY,
  type PemTexts,
  pemErrors,
} from './pem-texts.ts';

/** Uploads a certificate from elsewhere, in place of those of all domains that it covers. */
export function UploadCertificate({
  open,
  onOpenChange,
  installId,
}: {
  open: boolean;
  onOpenChange(open: boolean): void;
  installId: string;
}) {
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Upload certificate"
      description="The certificate replaces the present ones of all domains of this install that it covers. Homeport cannot renew it."
    >
      <UploadForm installId={installId} onUploaded={() => onOpenChange(false)} />
    </Dialog>
  );
}

function UploadForm({ installId, onUploaded }: { installId: string; onUploaded(): void }) {
  const queries = useQueryClient();

  async function upload(values: FormData) {
    const texts: PemTexts = {
      certificate: textOf(values, 'certificate'),
      chain: textOf(values, 'chain'),
      private_key: textOf(values, 'private_key'),
    };
    const errors = pemErrors(texts);
    if (errors.length > 0) throw new FormError('Nothing was sent. Check the marked fields.', errors);
    const { domains } = await unwrap(
      hosting.POST('/installs/{install_id}/ssl_certificates/third_party', {
        params: { path: { install_id: installId } },
        body: { certificate: joinChain(texts), private_key: texts.private_key },
      }),
    ).catch((error: unknown) => {
      throw withFields(error, texts);
    });
    await reloadDomains(queries, installId);
    showSuccess(uploadedSentence(domains));
    onUploaded();
  }

  return (
    <Form submitLabel="Upload certificate" onSubmit={upload}>
      <PemField
        label="Certificate"
        name="certificate"
        hint="The certificate of your domains in PEM. The file may also contain the chain."
        longest={LONGEST_CHAIN}
        required
      />
      <PemField
        label="Intermediate certificates"
        name="chain"
        hint="The chain of the issuer, each certificate followed by that of its issuer. Messages count your own certificate as number 1."
        longest={LONGEST_CHAIN}
      />
      <PemField
        label="Private key"
        name="private_key"
        hint="The key of the certificate in PEM, without a passphrase. Homeport stores it encrypted and never shows it again."
        longest={LONGEST_KEY}
        secret
        required
      />
    </Form>
  );
}

/** Assigns the server's errors to the fields of the form. */
function withFields(error: unknown, texts: PemTexts): unknown {
  if (!(error instanceof ApiFailure) || error.fieldErrors.length === 0) return error;
  const errors = error.fieldErrors.map((fault) => ({ ...fault, field: fieldOfError(fault, texts) }));
  return new FormError(error.message, errors);
}
