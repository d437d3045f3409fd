import { expect, test } from "vitest";
import { keyIn, placeAfter, signInOf, type SignIn } from "../src/lib/sign_in";

test("a key in the fragment signs in, and does not stay in the address", () => {
  expect(signInOf("#key=rk_0123456789abcdef_aB-_9")).toEqual({ key: "rk_0123456789abcdef_aB-_9", rest: "#/" });
});

test("the screen behind the key stays", () => {
  expect(signInOf("#key=rk_1&recall?q=cat")).toEqual({ key: "rk_1", rest: "#/recall?q=cat" });
});

test("what is no key of a service is left alone", () => {
  for (const hash of ["", "#/", "#/chat?key=rk_1", "#key=", "#key=<script>", "#/key=rk_1"]) expect(signInOf(hash)).toBeNull();
});

test("a person may type the whole address", () => {
  for (const typed of ["rk_1", " rk_1 ", "http://127.0.0.1:8300/#key=rk_1", "the page: http://x/p/#key=rk_1 "]) expect(keyIn(typed)).toBe("rk_1");
});

test("a tab that is signed in anew stays where it was, unless the address names a place", () => {
  const signIn = (hash: string) => signInOf(hash) as SignIn;
  expect(placeAfter(signIn("#key=rk_1"), "#/chat/talk?on=2026-01-01")).toBe("#/chat/talk?on=2026-01-01");
  expect(placeAfter(signIn("#key=rk_1&review"), "#/chat")).toBe("#/review");
  expect([placeAfter(signIn("#key=rk_1"), ""), placeAfter(signIn("#key=rk_2"), "#key=rk_1")]).toEqual(["#/", "#/"]);
});
