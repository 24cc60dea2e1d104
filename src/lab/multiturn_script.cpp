#include "lab/multiturn_script.h"

namespace kvik::lab {
namespace {

constexpr std::string_view kSystem =
    "You help people who plan something together. Answer in plain sentences, name what you take "
    "for "
    "granted, and keep to what was said before.";

constexpr std::string_view kLong[] = {
    "We are nine people in a village of about six hundred, and the railway has given up our little "
    "station. The trains still pass, but none of them stops. The building is ours for a token rent "
    "if we do something useful with it, and we would like to turn it into a library where people "
    "also meet. There is a waiting room of forty square metres with a tiled stove, a ticket office "
    "half that size, a luggage room without heating, and a flat upstairs that has stood empty for "
    "eleven years. The roof was mended three summers ago. The windows are old and let the wind in, "
    "the wiring is from the time of our grandparents, and the cellar is damp after every long "
    "rain. "
    "We have eighteen thousand in the bank, a promise of as much again from the county if we open "
    "within two years, and a great many people who say that they will help on Saturdays. Before we "
    "talk about shelves and books, tell me in which order you would look at the building itself, "
    "and "
    "which of these things you would have looked at by somebody who does it for a living.",

    "Thank you, that is a good beginning. We had an electrician in yesterday, a patient woman from "
    "the next town. She says that the wires in the waiting room and in the ticket office must go, "
    "all "
    "of them, but that the line from the street is sound and strong enough for lamps, a kettle and "
    "some computers. She would do the work for four thousand two hundred, or for two thousand "
    "eight "
    "hundred if we cut the slots into the walls ourselves and close them again afterwards. Two of "
    "us "
    "have done that before in their own houses, and one of them still talks about the dust. The "
    "walls are brick with lime plaster on them. She also asked whether we want to heat with the "
    "stove alone, since electric heaters would need another cable and a larger meter, and that "
    "alone "
    "would come to fifteen hundred. Let us assume that we do the slots ourselves and do without "
    "the "
    "heaters for now. What should we decide about sockets and lamps before she starts, so that we "
    "need not open the walls a second time when the shelves are there?",

    "Now to the books. The school in the valley closed its library when it moved, and offers us "
    "four "
    "thousand volumes, packed in boxes and stored in a barn. A teacher who retired last year has a "
    "list of them, on paper, with titles, authors and the year in which each was bought. About one "
    "in three is for children, one in five is about farming, forestry or the history of the "
    "county, "
    "and the rest is what people read in the evening. I went to see the barn. It is dry, there are "
    "no mice as far as I could tell, but the boxes at the bottom have been pressed flat by the "
    "ones "
    "above them. Our waiting room could hold perhaps two thousand books if we leave enough space "
    "to "
    "sit down, and the ticket office another six hundred. So we have to choose, and nobody wants "
    "to "
    "be the one who throws a book away. Suggest a rule by which nine people who do not read the "
    "same "
    "things can choose about half of these books within one weekend, without opening every one of "
    "them and without quarrelling about it.",

    "We tried your rule on two hundred books last night, in my kitchen, and it works better than I "
    "had feared. The only trouble was with old children's books, which everybody over fifty wanted "
    "to keep and nobody under thirty would have read to a child. In the end we put them into a box "
    "of their own and wrote a year on it; whatever has not been borrowed by then will be given "
    "away. "
    "The next question is how people borrow. Three of us want cards and stamps, because they never "
    "break and because a person of ninety can use them. Two want a computer with a scanner, "
    "because "
    "then we would know at once who has what. The others do not care, as long as it takes less "
    "than "
    "a minute for each book and they do not have to learn anything. We will be open on Tuesday and "
    "Friday afternoons and on Saturday mornings, with two volunteers each time, and we expect "
    "about "
    "twenty visitors on a good day. Compare both ways for a place like ours, and say what we would "
    "lose with each of them if the volunteers change every few months.",

    "Good, we start with cards, and we number the books in such a way that a computer could take "
    "them "
    "over later. Now I need help with the money. Here is what we know so far. Wiring two thousand "
    "eight hundred. Plaster and paint six hundred. The chimney sweep wants the stove pipe "
    "replaced, "
    "which is four hundred and fifty. A carpenter in the village would build shelves of larch for "
    "one "
    "hundred and ten a metre, and we need about seventy metres; he has also offered to lend us his "
    "workshop on two weekends, and to cut the boards for thirty a metre if we put them together "
    "ourselves. Insurance is three hundred and eighty a year. Wood for the stove is free, because "
    "the forester lets us have what the storm broke. Windows I have not asked about yet. The "
    "county "
    "pays its half only against bills, three months after it has received them, so we have to pay "
    "everything ourselves first. Write down what the first year costs, once with the carpenter's "
    "shelves and once with our own, and tell me by when we would run out of money in the worst "
    "case.",

    "I read your figures to the others, and after a long evening we decided to build the shelves "
    "ourselves. The carpenter seemed relieved, by the way; he has a kitchen to finish before "
    "summer. "
    "There is something new. A family that moved here two years ago asked whether they could rent "
    "the flat above the station. They have two small children, he repairs bicycles, and she "
    "teaches "
    "at the school in the valley. They know that there is no bathroom worth the name, and they "
    "would "
    "put one in with their own hands if they need not pay rent for the first two years. They would "
    "also light the stove in the morning on the days on which we are open, and keep an eye on the "
    "house at night. Some of us are delighted. Others remember a tenant in the old school house "
    "who "
    "stayed for thirty years and let nobody in. What would you want to have agreed in writing "
    "before "
    "they move in, and which of these points would you leave to a lawyer instead of settling them "
    "among neighbours at a kitchen table?",

    "They have signed, and they are moving in at the end of the month. The children have already "
    "painted a train on a sheet of cardboard and hung it in the ticket window. Meanwhile we have a "
    "problem with the cellar. After the rain of last week there were four centimetres of water in "
    "the eastern half of it, below the luggage room, and the wall there is wet to the height of my "
    "knee. A neighbour who used to lay drains says that the gutter on that side ends in a pipe "
    "which "
    "has been broken for years, so that all the water from the roof runs down along the "
    "foundation. "
    "He would dig it up with us for a crate of beer. A company that I asked wants to drill holes "
    "into "
    "the wall and fill them with something, for six thousand five hundred, and says that it cannot "
    "promise anything if we only mend the pipe. Nothing is stored in the cellar, and the floor of "
    "the "
    "luggage room is made of stone. What would you try first, how long would you wait until you "
    "judge whether it has helped, and what would you measure in the meantime?",

    "The pipe is mended, and we have stuck strips of paper with dates on the wall, as you "
    "proposed. "
    "While we wait for rain, let us talk about people. We have twenty-three volunteers on the "
    "list. "
    "Seven of them can come on Tuesdays, eleven on Fridays and nine on Saturdays, and some of them "
    "on more than one of these days. Four are at school and may not be alone with the till. Two "
    "are "
    "over eighty and should not carry boxes, although they will not admit it. One is a nurse whose "
    "shifts are known only two weeks ahead. We need two people each time, at least one of them a "
    "grown-up, and nobody should have to come more than three times in a month. My sister-in-law "
    "has "
    "made a plan like this for the fire brigade for years, and she says that the plan is easy and "
    "that the telephone calls are the work. Describe a way of making this plan that needs one "
    "evening a month and no computer, and say how somebody who falls ill in the morning finds a "
    "replacement before the doors open.",

    "We have a date: the library opens on the first Saturday in May, at ten in the morning, and "
    "the "
    "mayor will say a few words that she has promised to keep short. The brass band plays if it "
    "does "
    "not rain. The bakery gives us two hundred rolls, and the school choir wants to sing in the "
    "waiting room, which will be loud but cannot be helped. Until then we have nine weeks. These "
    "things are still open: the last eighteen metres of shelves, the lamps in the ticket office, "
    "the "
    "numbers on about seven hundred books, a sign for the road, a fire extinguisher and somebody "
    "who "
    "shows us how to use it, the cards for the first two hundred readers, curtains, and a bench in "
    "front of the house. The electrician comes back in five weeks and not before. The paint for "
    "the "
    "sign needs ten days without frost. Make a plan for these nine weeks, two Saturdays of which "
    "are "
    "lost to Easter and to the spring fair, and mark what must not slip because something else "
    "depends on it.",

    "It is the evening before the opening, and I am sitting in the waiting room, next to the "
    "stove, "
    "with the last box of cards on my knees. The eastern wall of the cellar is dry down to the "
    "lowest "
    "strip of paper. The bench is there, and it does not wobble. The curtains are too short by the "
    "width of a hand, and nobody but me seems to mind. We have spent thirty-one thousand four "
    "hundred "
    "of what we had and of what was promised, so there is a little left for windows, though not "
    "for "
    "all of them. The family upstairs has lit the stove three times for us by now, and the smaller "
    "child has asked for her own card, with the number one. Tomorrow somebody will ask me to tell "
    "how all of this came about, and I am no speaker. Write down for me, in about two minutes of "
    "spoken words, where we began and what we decided on the way, why we built the shelves "
    "ourselves and mended a pipe instead of drilling holes, and whom I must not forget to thank.",
};

constexpr std::string_view kInstead =
    " No, wait: before you answer that, say in one sentence what you would do if we had only half "
    "of "
    "the money and a whole year more.";

constexpr std::string_view kOther[] = {
    "Something else entirely. My daughter has to give a talk about tides in her geography class, "
    "ten "
    "minutes long, to children of twelve who live far from any sea. She understands that the moon "
    "has "
    "to do with it, but not why there are two floods a day and not one, and I found that I could "
    "not "
    "tell her. We have a bowl, a lamp, a ball of clay and a good deal of string in the house. "
    "Explain "
    "it to me in such a way that I can explain it to her, and name one thing that most people get "
    "wrong about it, so that she has something to surprise the class with.",

    "She understood it, and drew it on the back of an envelope for me. Now she wants to know why "
    "the "
    "flood comes about fifty minutes later on each day, and whether lakes have tides too; there is "
    "a "
    "large one an hour from here on which we sail in summer, and she has never seen its water "
    "rise. "
    "Give me an answer to both that fits on one card, and a question which she can put to the "
    "class at "
    "the end, one that can be answered with what she has told them.",
};

constexpr std::string_view kLast =
    "Back to the station once more. The opening is behind us, eighty-four people came, and we have "
    "lent two hundred and six books on the first day, which left some gaps on the shelves that "
    "look "
    "rather good. Somebody asked in the guest book whether we could be open on one evening of the "
    "week "
    "as well. Think of what you know about our volunteers, the stove and the money, and tell me "
    "what "
    "would speak for it, what against it, and how we could try it out for a month.";

}  // namespace

std::string_view system_prompt() {
    return kSystem;
}

std::span<const std::string_view> long_talk() {
    return kLong;
}

std::string edited(size_t index) {
    const std::string_view text = kLong[index];
    const size_t last_sentence = text.rfind(". ") + 1;
    return std::string(text.substr(0, last_sentence)) + std::string(kInstead);
}

std::span<const std::string_view> other_talk() {
    return kOther;
}

std::string_view last_word() {
    return kLast;
}

}  // namespace kvik::lab
