/** The words of messages because of which something was done that does not cite them: an end has the evidence of what it ends. */

import { api } from "../api/client";
import { isGone } from "../api/problem";
import type { Evidence, Message, Scope } from "../api/shapes";
import { useAsked } from "../lib/asking";
import { linkTo } from "../lib/route";
import { shortened } from "../lib/sentences";
import { useAround, useHere } from "../lib/session";
import { Icon } from "./icons";

type Said = Pick<Evidence, "thread" | "message">;

const SAID_MAX = 200;

/** The messages because of which something is asked, or was done, each in its first words. */
export function Because({ said, until }: { said: readonly Said[]; /** When it was done. */ until: string }) {
  const { t } = useAround();
  const { scope } = useHere();
  const messages = useAsked(() => Promise.all(said.map((each) => messageOf(scope, each, until))), [scope, said, until]);
  return (
    <ul className="quotes">
      {said.map((each, place) => {
        const found = messages.value?.[place];
        const words = found && shortened(found.text, SAID_MAX);
        return (
          <li key={place}>
            <a className="quote" href={linkTo(["chat", each.thread], scope, { message: each.message })}>
              <Icon name="link" />
              <span>{words === undefined ? t("review.because_message") : t(found?.role === "user" ? "review.because_you" : "review.because", { words })}</span>
            </a>
          </li>
        );
      })}
    </ul>
  );
}

/** So many messages before the formation are looked through. */
const LOOKED_THROUGH = 200;

async function messageOf(scope: Scope, { thread, message }: Said, until: string): Promise<Message | undefined> {
  try {
    const { messages } = await api.messages(scope, thread, { last: LOOKED_THROUGH, until });
    return messages.find((each) => each.id === message);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}
