import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Install } from '../../../api/installs.ts';
import type { Protection } from '../../../api/rules.ts';
import { Button } from '../../../components/button.tsx';
import { Copyable } from '../../../components/copy.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { TextArea, TextField } from '../../../components/fields.tsx';
import { Form, textOf } from '../../../components/form.tsx';
import { linesOf } from '../../../components/lines.ts';
import { Facts, Section } from '../../../components/page.tsx';
import { showFailure } from '../../../components/toast.tsx';
import { changeProtection } from './change-protection.ts';

type Password = Protection['password'];

/** The password that visitors of a website must enter, for the owners to hand out. */
export function VisitorPassword({ install, password }: { install: Install; password: Password }) {
  const queries = useQueryClient();
  const [open, setOpen] = useState(false);
  const { enabled, username, password: secret, allowed_addresses } = password;
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
        <Form
          submitLabel="Save"
          fieldOf={(name) => name.replace(/^password\./, '').replace(/\.\d+$/, '')}
          onSubmit={async (values) => {
            const typed = textOf(values, 'password');
            await changeProtection(
              queries,
              install.id,
              {
                password: {
                  username: textOf(values, 'username'),
                  allowed_addresses: linesOf(textOf(values, 'allowed_addresses')),
                  ...(typed === secret ? {} : { password: typed === '' ? null : typed }),
                },
              },
              'The password is saved.',
            );
            setOpen(false);
          }}
        >
          <TextField
            label="User name"
            name="username"
            required
            defaultValue={username}
            autoCapitalize="none"
            autoComplete="off"
          />
          <TextField
            label="Password"
            name="password"
            defaultValue={secret ?? ''}
            hint="At least 8 characters. Leave it empty for a new random one."
            autoCapitalize="none"
            autoComplete="off"
          />
          <TextArea
            label="Exempt addresses"
            name="allowed_addresses"
            hint="Optional. Visitors from these IP addresses or ranges, such as your office, need no password. One on each line."
            autoCapitalize="none"
            autoComplete="off"
            defaultValue={allowed_addresses.join('\n')}
          />
        </Form>
      </Dialog>
    </Section>
  );
}
