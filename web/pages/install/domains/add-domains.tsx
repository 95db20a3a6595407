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
import { faultsOfNames, LONGEST_NAME, type NewDomain, readNames, withTwins } from './new-names.ts';

const MOST = 20;

/** Adds one or several names, all or none. */
export function AddDomains({
  open,
  onOpenChange,
  installId,
  present,
}: {
  open: boolean;
  onOpenChange(open: boolean): void;
  installId: string;
  present: Domain[];
}) {
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Add domains"
      description="Each is served as soon as its DNS leads here; which record to set is shown then."
    >
      <AddForm installId={installId} present={present} onAdded={() => onOpenChange(false)} />
    </Dialog>
  );
}

function AddForm({ installId, present, onAdded }: { installId: string; present: Domain[]; onAdded(): void }) {
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
    const objection = objectionTo(domains.length, redirects.length);
    if (objection !== null) throw new FormError(objection, [{ field: 'names', message: objection }]);
    await unwrap(
      hosting.POST('/installs/{install_id}/domains/bulk', {
        params: { path: { install_id: installId } },
        body: { domains },
      }),
    ).catch((error: unknown) => {
      throw withNames(error, domains);
    });
    await reloadDomains(queries, installId);
    showSuccess(
      domains.length === 1
        ? `${displayName(domains[0]?.name ?? '')} is added.`
        : `${domains.length} domains are added.`,
    );
    onAdded();
  }

  return (
    <Form submitLabel={domains.length > 1 ? `Add ${domains.length} domains` : 'Add'} onSubmit={add}>
      <TextArea
        label="Names"
        name="names"
        hint={`One a line, at most ${MOST} with their redirects: example.com, or *.example.com for all below it.`}
        autoCapitalize="none"
        autoComplete="off"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <CheckboxField
        label="Add www names too, and redirect them"
        name="twins"
        hint={
          redirects.length > 0
            ? redirects
                .map(({ name, redirect_to = '' }) => `${cut(name)} leads to ${cut(redirect_to)}`)
                .join('; ')
            : 'www.example.com leads to example.com then, or the other way round.'
        }
        checked={twins}
        onChange={(event) => setTwins(event.currentTarget.checked)}
      />
    </Form>
  );
}

const cut = (name: string) => truncate(displayName(name), LONGEST_NAME);

/** The server counts the names; people know them by what they wrote. */
function withNames(error: unknown, domains: readonly NewDomain[]): unknown {
  if (!(error instanceof ApiFailure) || error.faults.length === 0) return error;
  return new FormError('Nothing was added: look at the names.', faultsOfNames(error.faults, domains));
}

function objectionTo(names: number, redirects: number): string | null {
  if (names === 0) return 'Write at least one name.';
  if (names <= MOST) return null;
  const counted = redirects > 0 ? `${names} names, ${redirects} of them redirects` : `${names} names`;
  return `These are ${counted}; at most ${MOST} can be added at once. Add the rest after these.`;
}
