import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { hosting } from '../../../api/client.ts';
import type { Domain } from '../../../api/domains.ts';
import { ApiFailure, FormError, unwrap } from '../../../api/failure.ts';
import { Dialog } from '../../../components/dialog.tsx';
import { displayName } from '../../../components/display-name.ts';
import { CheckboxField, TextArea } from '../../../components/fields.tsx';
import { Form } from '../../../components/form.tsx';
import { showSuccess } from '../../../components/toast.tsx';
import { truncate } from '../../../components/truncate.ts';
import { reloadDomains } from './change-domain.ts';
import { LONGEST_NAME, type NewDomain, nameErrors, readNames, withTwins } from './new-names.ts';

const MOST = 20;

/** Adds one or more domains. One invalid domain refuses all of them. */
export function AddDomains({
  open,
  onOpenChange,
  installId,
  present,
  onOneAdded,
}: {
  open: boolean;
  onOpenChange(open: boolean): void;
  installId: string;
  present: Domain[];
  /** Called with the ID of a domain that was added alone, or with its www twin. */
  onOneAdded(id: string): void;
}) {
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Add domains"
      description="Each domain is served as soon as its DNS points here. Its page then shows which records to set."
    >
      <AddForm
        installId={installId}
        present={present}
        onAdded={() => onOpenChange(false)}
        onOneAdded={onOneAdded}
      />
    </Dialog>
  );
}

function AddForm({
  installId,
  present,
  onAdded,
  onOneAdded,
}: {
  installId: string;
  present: Domain[];
  onAdded(): void;
  onOneAdded(id: string): void;
}) {
  const queries = useQueryClient();
  const [text, setText] = useState('');
  const [twins, setTwins] = useState(true);
  const domains = withTwins(
    readNames(text),
    present.map(({ name }) => name),
    twins,
  );
  const redirects = domains.filter(({ redirect_to }) => redirect_to !== undefined);

  async function add() {
    const message = countError(domains.length, redirects.length);
    if (message !== null) throw new FormError(message, [{ field: 'names', message: message }]);
    const first = await unwrap(
      hosting.POST('/installs/{install_id}/domains/bulk', {
        params: { path: { install_id: installId } },
        body: { domains },
      }),
    ).catch((error: unknown) => {
      throw withNames(error, domains);
    });
    await reloadDomains(queries, installId);
    const isOne = domains.length - redirects.length === 1;
    showSuccess(
      domains.length === 1
        ? `${displayName(first.name)} added.`
        : `${domains.length} domains added.${isOne ? '' : ' Open one to see its DNS records.'}`,
    );
    onAdded();
    if (isOne) onOneAdded(first.id);
  }

  return (
    <Form submitLabel={domains.length > 1 ? `Add ${domains.length} domains` : 'Add'} onSubmit={add}>
      <TextArea
        label="Domain names"
        name="names"
        hint={`One on each line, at most ${MOST} including redirects: example.com, or *.example.com for all subdomains.`}
        autoCapitalize="none"
        autoComplete="off"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <CheckboxField
        label="Also add and redirect www names"
        name="twins"
        hint={
          redirects.length > 0
            ? redirects
                .map(({ name, redirect_to = '' }) => `${cut(name)} redirects to ${cut(redirect_to)}`)
                .join('; ')
            : 'For example, www.example.com redirects to example.com.'
        }
        checked={twins}
        onChange={(event) => setTwins(event.currentTarget.checked)}
      />
    </Form>
  );
}

const cut = (name: string) => truncate(displayName(name), LONGEST_NAME);

/** The server's errors only have the index of a domain. This adds its name. */
function withNames(error: unknown, domains: readonly NewDomain[]): unknown {
  if (!(error instanceof ApiFailure) || error.fieldErrors.length === 0) return error;
  return new FormError('No domains were added. Check the names.', nameErrors(error.fieldErrors, domains));
}

function countError(names: number, redirects: number): string | null {
  if (names === 0) return 'Enter at least one domain name.';
  if (names <= MOST) return null;
  const counted = redirects > 0 ? `${names} names, including ${redirects} redirects` : `${names} names`;
  return `You entered ${counted}. Add at most ${MOST} at once, and the rest afterwards.`;
}
