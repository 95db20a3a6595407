import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { hosting } from '../../api/client.ts';
import { unwrap } from '../../api/failure.ts';
import type { ChangedSite } from '../../api/sites.ts';
import { MOST_DAYS_AHEAD } from '../../api/transfers.ts';
import { Button } from '../../components/button.tsx';
import { ChoiceField } from '../../components/choice-field.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/fields.tsx';
import { Form, textOf } from '../../components/form.tsx';
import { showSuccess } from '../../components/toast.tsx';
import { useSession } from '../../session/session.ts';

const ELSEWHERE = 'elsewhere';

/** Requests the transfer of a site to another account. */
export function TransferSiteDialog({
  site,
  open,
  onClose,
}: {
  site: ChangedSite;
  open: boolean;
  onClose(): void;
}) {
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => next || onClose()}
      title={`Transfer ${site.name}`}
      description={
        <>
          <p>The site and its installs move to another account. The websites keep running.</p>
          <p>Users of this account lose access, unless they are in the other account, too.</p>
        </>
      }
    >
      <TransferForm site={site} onClose={onClose} />
    </Dialog>
  );
}

function TransferForm({ site, onClose }: { site: ChangedSite; onClose(): void }) {
  const queries = useQueryClient();
  const { accounts } = useSession();
  const own = accounts.filter(({ id, may }) => id !== site.account.id && may['site.transfer'] !== 'none');
  const [choice, setChoice] = useState(own[0]?.id ?? ELSEWHERE);

  async function transfer(values: FormData) {
    const at = textOf(values, 'scheduled_time');
    const made = await unwrap(
      hosting.POST('/sites/{site_id}/site_transfers', {
        params: { path: { site_id: site.id } },
        body: {
          destination_account_id:
            choice === ELSEWHERE ? textOf(values, 'destination_account_id').trim() : choice,
          ...(at === '' ? {} : { scheduled_time: new Date(at).toISOString() }),
        },
      }),
    );
    for (const topic of ['transfer', 'site', 'install']) {
      void queries.invalidateQueries({ queryKey: [topic] });
    }
    showSuccess(
      made.awaits_acceptance
        ? `Offered ${site.name}. An owner of the other account must accept within 14 days.`
        : `Transferring ${site.name}${made.status === 'scheduled' ? ' at the scheduled time' : ''}.`,
    );
    onClose();
  }

  return (
    <Form
      submitLabel="Transfer site"
      actions={<Button onClick={onClose}>Cancel</Button>}
      onSubmit={transfer}
      fieldOf={(name) => (name === 'site_id' ? 'destination_account_id' : name)}
    >
      {own.length > 0 && (
        <ChoiceField
          label="To"
          name="choice"
          value={choice}
          onChange={setChoice}
          options={[
            ...own.map(({ id, name }) => ({ value: id, label: name })),
            { value: ELSEWHERE, label: 'An account that you do not own' },
          ]}
        />
      )}
      {choice === ELSEWHERE && (
        <TextField
          label="Account ID"
          name="destination_account_id"
          required
          autoComplete="off"
          spellCheck={false}
          hint="Its owners find it under Settings. One of them must accept the transfer."
        />
      )}
      <TextField
        label="Not before"
        name="scheduled_time"
        type="datetime-local"
        hint={`Optional, at most ${MOST_DAYS_AHEAD} days ahead. Without it, the transfer happens as soon as it is accepted.`}
      />
    </Form>
  );
}
