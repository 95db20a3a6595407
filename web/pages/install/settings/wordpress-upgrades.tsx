import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { hosting } from '../../../api/client.ts';
import { unwrap } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import type { Precondition } from '../../../api/precondition.ts';
import { ofInstall } from '../../../api/rules.ts';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { TextField } from '../../../components/fields.tsx';
import { Form } from '../../../components/form.tsx';
import { Section } from '../../../components/page.tsx';
import { Time, useNow } from '../../../components/time.tsx';
import { showFailure, showSuccess } from '../../../components/toast.tsx';
import { useDraft } from '../../../components/use-draft.ts';
import { dateFieldValue, deferralBounds, startOfDay } from './deferral-dates.ts';

const FIELD = 'defer_wordpress_upgrades_until';
const LOOK_AGAIN_MS = 60_000;

/** Defers upgrades of WordPress by the provider, and ends the deferral. */
export function WordpressUpgrades({ install }: { install: Install }) {
  const [open, setOpen] = useState(false);
  const queries = useQueryClient();
  const now = useNow(LOOK_AGAIN_MS);
  const until = install.defer_wordpress_upgrades_until;
  const isDeferred = until !== null && Date.parse(until) > now.getTime();

  async function change(to: string | null, header: Precondition = {}) {
    await unwrap(
      hosting.PATCH('/installs/{install_id}', {
        params: { path: { install_id: install.id }, header },
        body: { [FIELD]: to },
      }),
    );
    await queries.invalidateQueries({ queryKey: ['install', install.id] });
    showSuccess(
      to === null ? 'Upgrades of WordPress are allowed again.' : 'Upgrades of WordPress are deferred.',
    );
  }

  const end = useMutation({ mutationFn: () => change(null), onError: showFailure });

  return (
    <Section
      title="WordPress upgrades"
      actions={
        <>
          {isDeferred && (
            <Button pending={end.isPending} onClick={() => end.mutate()}>
              End deferral
            </Button>
          )}
          <Button onClick={() => setOpen(true)}>{isDeferred ? 'Change date' : 'Defer upgrades'}</Button>
        </>
      }
    >
      <p aria-live="polite">
        {isDeferred ? (
          <>
            Deferred until <Time at={until} exact />. Your provider leaves WordPress as it is until then;
            security fixes wait, too.
          </>
        ) : (
          'Your provider upgrades WordPress. You can defer upgrades, for example until after a busy season.'
        )}
      </p>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title="Defer WordPress upgrades"
        description="Your provider leaves WordPress as it is until the day begins. Security fixes wait, too, unless your provider has to apply one. Plugins and themes are not affected."
      >
        <DeferralForm
          install={install}
          now={now}
          onDefer={async (day, header) => {
            await change(startOfDay(day), header);
            setOpen(false);
          }}
        />
      </Dialog>
    </Section>
  );
}

function DeferralForm({
  install,
  now,
  onDefer,
}: {
  install: Install;
  now: Date;
  onDefer(day: string, precondition: Precondition): Promise<void>;
}) {
  const { first, last } = deferralBounds(now);
  const draft = useDraft({
    resource: install,
    fieldsOf: ({ defer_wordpress_upgrades_until: until }) => ({
      until: until !== null && Date.parse(until) > now.getTime() ? dateFieldValue(new Date(until)) : '',
    }),
    read: () => hosting.GET('/installs/{install_id}', ofInstall(install.id)),
    save: ({ until = '' }, precondition) => onDefer(until, precondition),
  });
  return (
    <Form draft={draft} submitLabel="Defer" fieldOf={(field) => (field === FIELD ? 'until' : field)}>
      <TextField
        type="date"
        label="Defer until"
        required
        min={first}
        max={last}
        hint="At most a year ahead."
        {...draft.field('until')}
      />
    </Form>
  );
}
