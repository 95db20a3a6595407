import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Install } from '../../../api/installs.ts';
import type { Protection } from '../../../api/rules.ts';
import { Button } from '../../../components/button.tsx';
import { Copyable } from '../../../components/copy.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { TextArea, TextField } from '../../../components/fields.tsx';
import { Form } from '../../../components/form.tsx';
import { linesOf } from '../../../components/lines.ts';
import { Facts, Section } from '../../../components/page.tsx';
import { showFailure } from '../../../components/toast.tsx';
import { changeProtection, useProtectionDraft } from './change-protection.ts';

/** The password that visitors of a website must enter, for the owners to hand out. */
export function VisitorPassword({ install, protection }: { install: Install; protection: Protection }) {
  const queries = useQueryClient();
  const [open, setOpen] = useState(false);
  const { enabled, username, password: secret, allowed_addresses } = protection.password;
  const turn = useMutation({
    mutationFn: () =>
      changeProtection(
        queries,
        install.id,
        { password: { enabled: !enabled } },
        enabled ? 'Everyone may visit the website.' : 'Visitors must enter the password.',
      ),
    onError: showFailure,
  });

  return (
    <Section
      title="Password for visitors"
      actions={
        <>
          {enabled && <Button onClick={() => setOpen(true)}>Change</Button>}
          <Button pending={turn.isPending} onClick={() => turn.mutate()}>
            {enabled ? 'Turn off' : 'Turn on'}
          </Button>
        </>
      }
    >
      <p aria-live="polite">
        {enabled
          ? 'Visitors must enter this name and password. Share them with everyone who may see the website.'
          : 'Everyone may visit the website. Turn the password on to show it to your team and your client only.'}
      </p>
      {enabled && secret !== null && (
        <Facts
          facts={[
            ['User name', <Copyable key="name" text={username} what="the user name" />],
            ['Password', <Copyable key="password" text={secret} what="the password" />],
            ...(allowed_addresses.length === 0
              ? []
              : [['Exempt addresses', allowed_addresses.join(', ')] as const]),
          ]}
        />
      )}
      {enabled && install.php_version !== null && (
        <p>
          Signing in to wp-admin from this portal needs no password. Programs that use application passwords
          must connect from an exempt address.
        </p>
      )}
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title="Password for visitors"
        description="A new password replaces the old one at once."
      >
        <PasswordForm install={install} protection={protection} onDone={() => setOpen(false)} />
      </Dialog>
    </Section>
  );
}

function PasswordForm({
  install,
  protection,
  onDone,
}: {
  install: Install;
  protection: Protection;
  onDone(): void;
}) {
  const draft = useProtectionDraft(
    install,
    protection,
    ({ password: { username, password, allowed_addresses } }) => ({
      username,
      password: password ?? '',
      allowed_addresses: allowed_addresses.join('\n'),
    }),
    ({ username, password, allowed_addresses }) => ({
      password: {
        ...(username === undefined ? {} : { username }),
        ...(password === undefined ? {} : { password: password === '' ? null : password }),
        ...(allowed_addresses === undefined ? {} : { allowed_addresses: linesOf(allowed_addresses) }),
      },
    }),
    'The password is saved.',
    onDone,
  );
  return (
    <Form
      draft={draft}
      submitLabel="Save"
      fieldOf={(name) => name.replace(/^password\./, '').replace(/\.\d+$/, '')}
    >
      <TextField
        label="User name"
        required
        autoCapitalize="none"
        autoComplete="off"
        {...draft.field('username')}
      />
      <TextField
        label="Password"
        hint="At least 8 characters. Leave it empty for a new random one."
        autoCapitalize="none"
        autoComplete="off"
        {...draft.field('password')}
      />
      <TextArea
        label="Exempt addresses"
        hint="Optional. Visitors from these IP addresses or ranges, such as your office, need no password. One on each line."
        autoCapitalize="none"
        autoComplete="off"
        {...draft.field('allowed_addresses')}
      />
    </Form>
  );
}
