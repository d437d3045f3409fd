/** The page's beginning. */

import { createRoot } from "react-dom/client";
import { askAhead, storedKey, storeKey, watchRefusedKey } from "./api/client";
import { App, fetchScreen } from "./app";
import { channelOf, KeyHandover } from "./lib/key_handover";
import { routeOf } from "./lib/route";
import { AroundProvider, storedSettings } from "./lib/session";
import { signInByAddress, signInLater } from "./lib/sign_in";
import { tabShelf } from "./lib/storage";
import { daysIn, isToday, momentsOf } from "./lib/time";
import { Boundary } from "./parts/boundary";
import { loadWords } from "./words";
import "./style.css";

signInByAddress(storeKey);
signInLater(storeKey);
const handover = new KeyHandover({
  channel: channelOf(document.baseURI), shelf: tabShelf, key: storedKey,
  take: (key) => {
    storeKey(key);
    location.reload();
  },
});
watchRefusedKey(handover.refused);
// The address that other services have their routes described at.
if (/\/docs\/?$/.test(location.pathname) && !location.hash) history.replaceState(null, "", "#/api");
const words = loadWords(storedSettings().language);
askAhead("me");
const { parts, scope, query } = routeOf(location.hash);
const days = daysIn(query);
fetchScreen(parts);
if (parts[0] === "chat") {
  askAhead("threads", scope, { limit: 50 });
  if (isToday(days)) askAhead("memories", scope, { limit: 200 });
} else if (!parts.length || parts[0] === "overview") askAhead("overview", scope, momentsOf(days));

const root = document.getElementById("root");
// Without the words nothing can be said: then what `index.html` says stays, in each language.
if (root) void words.then(() => createRoot(root).render(<AroundProvider><Boundary about=""><App /></Boundary></AroundProvider>));
